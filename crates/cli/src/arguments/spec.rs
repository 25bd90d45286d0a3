//! The spec that the arguments of a command describe.

use std::collections::BTreeMap;
use std::path::PathBuf;

use runner::export;
use runner::spec::{
    self, AugmentSpec, BudgetSpec, CriteriaSpec, InputSpec, Preconditions, ProgramSpec, SearchSpec,
    SourceSpec, Spec, SubjectSpec, TestsSpec, Where,
};

use super::inputs::InputArguments;
use super::{
    Augment, Cover, CriteriaArguments, ExportFormat, Gen, Generator, Goals, Import, McdcRule,
    ProgramArguments, ProverChoice, Reuse, SourceArguments, StubArguments, TargetOrder, TestArguments,
    TestsForm,
};

impl Gen {
    /// What is asked for, with what a configuration says of functions.
    pub fn spec(&self, of_function: BTreeMap<String, Preconditions>) -> Spec {
        let inputs = InputSpec { assume: self.assume.clone(), of_function, ..(&self.inputs).into() };
        Spec {
            sources: (&self.sources).into(),
            subject: subject(self.function.as_ref(), &self.program, &self.inputs, &self.stubs),
            criteria: CriteriaSpec {
                since: self.since.clone(),
                changed_only: self.changed_only,
                equivalent: self.equivalent,
                ..criteria(&self.criteria, &self.only)
            },
            search: SearchSpec {
                strategy: self.strategy.clone(),
                pps_depth: self.pps_depth,
                no_filter: self.no_filter,
                no_redefinition_pruning: self.no_redefinition_pruning,
                solver: self.solver.clone(),
                seed: self.seed,
                first_input: self.first_input.clone(),
                no_minimise: self.no_minimise,
                strengthen: match (self.strengthen, self.no_strengthen) {
                    (true, _) => Some(true),
                    (false, true) => Some(false),
                    (false, false) => None,
                },
                self_check: self.self_check,
                no_sanitize: self.no_sanitize && !self.sanitize,
            },
            inputs,
            tests: (&self.tests).into(),
            augment: None,
            budget: BudgetSpec {
                budget: self.budget.as_secs_f64(),
                max_executions: self.max_executions,
                per_goal: self.per_goal.as_secs_f64(),
                jobs: self.jobs,
                fork_each: self.fork_each,
                memory: self.memory,
                prove: self.prove,
                no_prove: self.no_prove,
                prove_only: self.prove_only,
                fail_on_difference: self.fail_on_difference,
                prover: match self.prover {
                    ProverChoice::Auto => spec::ProverChoice::Auto,
                    ProverChoice::Bounded => spec::ProverChoice::Bounded,
                    ProverChoice::Houdini => spec::ProverChoice::Houdini,
                    ProverChoice::LoopFree => spec::ProverChoice::LoopFree,
                    ProverChoice::KInduction => spec::ProverChoice::KInduction,
                    ProverChoice::Unrolled => spec::ProverChoice::Unrolled,
                    ProverChoice::Cegar => spec::ProverChoice::Cegar,
                    ProverChoice::Pdr => spec::ProverChoice::Pdr,
                    ProverChoice::States => spec::ProverChoice::States,
                },
            },
        }
    }
}

impl Goals {
    /// What is asked for.
    pub fn spec(&self) -> Spec {
        Spec {
            sources: (&self.sources).into(),
            subject: SubjectSpec { function: self.function.clone(), ..SubjectSpec::default() },
            criteria: criteria(&self.criteria, &self.only),
            ..Spec::default()
        }
    }
}

impl Augment {
    /// What is asked of augmentation.
    pub fn augment_spec(&self) -> AugmentSpec {
        AugmentSpec {
            order: match self.order {
                TargetOrder::Dfo => spec::OrderSpec::Dfo,
                TargetOrder::Random => spec::OrderSpec::Random,
            },
            reuse: match self.reuse {
                Reuse::Existing => spec::ReuseSpec::Existing,
                Reuse::ExistingAndNew => spec::ReuseSpec::ExistingAndNew,
            },
            generator: match self.generator {
                Generator::Concolic => spec::GeneratorSpec::Concolic,
                Generator::Genetic => spec::GeneratorSpec::Genetic,
                Generator::Hybrid => spec::GeneratorSpec::Hybrid,
            },
            negations: self.negations,
            generations: self.generations,
            no_search: self.no_search,
        }
    }
}

impl Import {
    /// What is asked for.
    pub fn spec(&self) -> Spec {
        Spec {
            sources: (&self.sources).into(),
            subject: subject(self.function.as_ref(), &self.program, &self.inputs, &self.stubs),
            criteria: criteria(&self.criteria, &self.only),
            inputs: (&self.inputs).into(),
            tests: (&self.tests).into(),
            ..Spec::default()
        }
    }
}

impl Cover {
    /// What is asked for, and the directory of tests.
    pub fn split(&self) -> (Spec, PathBuf) {
        let (directory, files) = self.paths.split_last().expect("at least two paths are asked for");
        let sources = SourceSpec {
            files: files.to_vec(),
            build_dir: self.build_dir.clone(),
            flags: self.flags.clone(),
        };
        let spec = Spec {
            sources,
            subject: subject(self.function.as_ref(), &self.program, &self.inputs, &self.stubs),
            criteria: criteria(&self.criteria, &self.only),
            inputs: (&self.inputs).into(),
            ..Spec::default()
        };
        (spec, directory.clone())
    }
}

fn subject(
    function: Option<&String>,
    program: &ProgramArguments,
    inputs: &InputArguments,
    stubs: &StubArguments,
) -> SubjectSpec {
    SubjectSpec {
        function: function.cloned(),
        program: program.program.then(|| ProgramSpec {
            max_args: program.max_args.map(u64::from),
            arg_len: program.arg_len.into(),
            stdin_size: program.stdin_size.into(),
            files: program.file.iter().map(|(name, size)| (name.clone(), u64::from(*size))).collect(),
            env: program.env.clone(),
            failing_allocations: inputs.malloc_failure.unwrap_or(0).into(),
        }),
        stubs: stubs.files.clone(),
        stub_writes: stubs.writes.iter().cloned().collect(),
    }
}

fn criteria(arguments: &CriteriaArguments, only: &[Where]) -> CriteriaSpec {
    CriteriaSpec {
        criterion: arguments.criterion.clone(),
        mcdc: match arguments.mcdc {
            McdcRule::Masking => spec::McdcRule::Masking,
            McdcRule::UniqueCause => spec::McdcRule::UniqueCause,
        },
        dataflow_elements: arguments.dataflow_elements,
        only: only.to_vec(),
        ..CriteriaSpec::default()
    }
}

impl From<&SourceArguments> for SourceSpec {
    fn from(arguments: &SourceArguments) -> Self {
        Self {
            files: arguments.sources.clone(),
            build_dir: arguments.build_dir.clone(),
            flags: arguments.flags.clone(),
        }
    }
}

impl From<&TestArguments> for TestsSpec {
    fn from(arguments: &TestArguments) -> Self {
        let form = |form: TestsForm| match form {
            TestsForm::Json => spec::FormSpec::Json,
            TestsForm::Lines => spec::FormSpec::Lines,
            TestsForm::Script => spec::FormSpec::Script,
            TestsForm::Corpus => spec::FormSpec::Corpus,
            TestsForm::Ktest => spec::FormSpec::Ktest,
            TestsForm::Testcomp => spec::FormSpec::Testcomp,
            TestsForm::C => spec::FormSpec::C,
        };
        Self {
            tests: arguments.tests.clone(),
            corpus_args: arguments.corpus_args.clone(),
            form: arguments.tests_form.map(form),
            command: arguments.command.clone(),
            flags: arguments.tests_flags.clone(),
        }
    }
}

impl From<&InputArguments> for InputSpec {
    fn from(arguments: &InputArguments) -> Self {
        Self {
            len: arguments.len.iter().cloned().collect(),
            max_len: arguments.max_len,
            max_depth: arguments.max_depth,
            no_couple: arguments.no_couple,
            global: arguments.global.clone(),
            globals: arguments.globals,
            precondition: arguments.precondition.clone(),
            malloc_failure: arguments.malloc_failure,
            ..Self::default()
        }
    }
}

impl From<ExportFormat> for export::ExportFormat {
    fn from(format: ExportFormat) -> Self {
        match format {
            ExportFormat::C => Self::C,
            ExportFormat::Unity => Self::Unity,
            ExportFormat::Cmocka => Self::Cmocka,
            ExportFormat::Googletest => Self::Googletest,
            ExportFormat::Json => Self::Json,
            ExportFormat::Ktest => Self::Ktest,
            ExportFormat::Testcomp => Self::Testcomp,
            ExportFormat::Verifier => Self::Verifier,
            ExportFormat::Witness => Self::Witness,
        }
    }
}

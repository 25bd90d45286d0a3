//! What the coverage structure says of candidates, and where it leads the search.

use std::collections::BTreeMap;
use std::sync::Arc;

use coverage::structure::{Relevance, Structure};
use coverage::{Coverage, Scope, TestId, criterion_named};
use engine::campaign::{CampaignOptions, CampaignResult, StopReason};
use engine::executor::Executor;
use engine::pool::{CandidateId, Judge, Pool, Run};
use engine::trace::{Choice, Trace, Tracer, alternatives};
use model::walk::Site;

use crate::build::{Built, LONG, given_first, input, with_cells};
use crate::campaigns::campaign_for;

/// Paper 1, figure 1, with its line numbers.
const BUBBLE: &str = "#define MAXLEN 6
void bubble(int v[MAXLEN],int n)
{
  int i, j, k;
  if(n>=MAXLEN)
    return;
  for (i = n; i > 1; --i)
    for(j=1;j<i;++j)
      /* compare */
      if(v[j]>v[j+1])
      { /* exchange */
        k=v[j];
        v[j]=v[j+1];
        v[j+1]=k;
      }
}";

fn bubble() -> Built {
    with_cells(BUBBLE, 7, "{ int v[6] = {a, b, c, d, e, f}; bubble(v, g); }")
}

/// A search by hand: every candidate stays, so that all verdicts can be seen.
struct Walkthrough<'a> {
    built: &'a Built,
    tracer: &'a Tracer<'a>,
    executor: Box<dyn Executor>,
    coverage: Coverage,
    structure: Structure<'a>,
    pool: Pool,
    /// Candidates by the path they want.
    candidates: BTreeMap<String, CandidateId>,
    n_runs: u32,
}

impl<'a> Walkthrough<'a> {
    fn new(built: &'a Built, tracer: &'a Tracer<'a>) -> Self {
        let scope = Scope::reachable_from(&built.program, built.program.root.expect("a root"));
        let coverage = Coverage::new(&built.program, &scope, &[criterion_named("branch").expect("known")]);
        let structure = Structure::new(tracer.marking(), &coverage);
        let (executor, pool) = (Box::new(built.server()), Pool::new(1000, 1000, false));
        Self { built, tracer, executor, coverage, structure, pool, candidates: BTreeMap::new(), n_runs: 0 }
    }

    /// Runs an input; returns its path and the candidates that are new.
    fn run(&mut self, values: &[u64]) -> (String, Vec<String>) {
        self.n_runs += 1;
        let trace = self.built.run(self.executor.as_mut(), values, LONG).trace;
        self.coverage.cover(TestId(self.n_runs), &trace.observations);
        self.structure.refresh(&self.coverage);
        let run = Run {
            input: Arc::new(input(values)),
            origin: None,
            n_new_goals: 0,
            distances: BTreeMap::new(),
            path: None,
        };
        let program = self.tracer.program();
        let mut judge = Judge { program, coverage: &self.coverage, structure: &mut self.structure };
        let ids = self.pool.add_run(&mut judge, run, &trace);
        let new: Vec<String> = ids.iter().map(|id| self.path_of(&trace, *id)).collect();
        self.candidates.extend(new.iter().cloned().zip(ids));
        let path: Vec<String> = trace.steps.iter().map(|step| self.branch(step.site, step.taken)).collect();
        (path.join(" "), new)
    }

    fn path_of(&self, trace: &Trace, id: CandidateId) -> String {
        let candidate = self.pool.candidate(id);
        let (site, choice) = candidate.branch().expect("nothing is pinned here");
        let steps = &trace.steps[..candidate.step as usize];
        assert!(alternatives(self.tracer.program(), &trace.steps[candidate.step as usize]).contains(&choice));
        let prefix = steps.iter().map(|step| self.branch(step.site, step.taken));
        prefix.chain([self.branch(site, choice)]).collect::<Vec<_>>().join(" ")
    }

    /// A branch as the paper writes it: `5T`.
    fn branch(&self, site: Site, choice: Choice) -> String {
        let (Site::Condition(condition), Choice::Outcome(taken)) = (site, choice) else {
            panic!("only conditions decide here")
        };
        let program = self.tracer.program();
        let line = program.span(program.condition(condition).span).at.line;
        format!("{line}{}", if taken { "T" } else { "F" })
    }

    fn relevance(&self, path: &str) -> Relevance {
        let outlook = self.pool.candidate(self.candidates[path]).outlook;
        self.structure.relevance(outlook, &self.coverage)
    }
}

#[test]
fn bubble_has_the_verdicts_of_the_papers_walk_through() {
    use Relevance::{Irrelevant, May, Must};
    let built = bubble();
    let tracer = Tracer::new(&built.program);
    let mut search = Walkthrough::new(&built, &tracer);

    let (path, new) = search.run(&[4, 0, 1, 8, 0, 2, 0]);
    assert_eq!((path.as_str(), new), ("5F 7F", vec!["5T".to_owned(), "5F 7T".to_owned()]));
    assert_eq!((search.relevance("5T"), search.relevance("5F 7T")), (Must, Must));

    let (path, new) = search.run(&[4, 0, 1, 8, 0, 2, 3]);
    assert_eq!(path, "5F 7T 8T 10F 8T 10F 8F 7T 8T 10F 8F 7F");
    assert_eq!(search.relevance("5T"), Must);
    assert_eq!(new.len(), 10);
    for candidate in &new {
        let expected = match candidate.rsplit(' ').next() {
            Some("10T") => Must,
            // only the way out of the outer loop leads past the comparison
            Some("7F") => Irrelevant,
            _ => May,
        };
        assert_eq!(search.relevance(candidate), expected, "{candidate}");
    }
    assert_eq!(search.relevance("5F 7T 8F"), May);
    assert_eq!(new.iter().filter(|candidate| search.relevance(candidate) == Irrelevant).count(), 1);

    let (path, _) = search.run(&[4, 2, 1, 8, 0, 2, 3]);
    assert_eq!(path, "5F 7T 8T 10T 8T 10F 8F 7T 8T 10F 8F 7F");
    assert_eq!(search.relevance("5T"), Must);
    for candidate in search.candidates.keys().filter(|candidate| *candidate != "5T") {
        assert_eq!(search.relevance(candidate), Irrelevant, "{candidate}");
    }

    let (path, _) = search.run(&[4, 2, 1, 8, 0, 2, 6]);
    assert_eq!(path, "5T");
    assert!(search.coverage.is_complete());
}

fn pps_from_the_papers_input(strategy: &str) -> CampaignResult {
    let given = vec![given_first(input(&[4, 0, 1, 8, 0, 2, 0]))];
    campaign_for(&bubble(), &["branch"], strategy, &CampaignOptions { given, ..CampaignOptions::default() })
}

#[test]
fn bubble_is_covered_by_four_executions_without_an_infeasible_query() {
    let result = pps_from_the_papers_input("pps");
    assert!(matches!(result.stop, StopReason::Complete), "{:?}", result.stop);
    assert_eq!((result.coverage.n_covered(), result.coverage.n_goals()), (8, 8));
    assert!(result.executions <= 4, "{} executions", result.executions);
    assert_eq!((result.queries.unsat, result.queries.unknown), (0, 0));
}

#[test]
fn fitness_halves_the_executions_where_a_counter_must_be_raised() {
    // paper 1, section V
    let text = "
        int loop(int v[6], int x) {
            int i;
            if (x == 2) {
                for (i = 0; i < 6; i++)
                    if (v[i] == 3) x++;
                if (x == 6) return 1;
            }
            return 0;
        }";
    let built = with_cells(text, 7, "{ int v[6] = {a, b, c, d, e, f}; loop(v, g); }");
    let executions = |strategy: &str| -> u64 {
        let run = |seed| {
            let result = campaign_for(
                &built,
                &["branch"],
                strategy,
                &CampaignOptions { seed, ..CampaignOptions::default() },
            );
            assert!(matches!(result.stop, StopReason::Complete), "{strategy}: {:?}", result.stop);
            result.executions
        };
        (0..30).map(run).sum()
    };
    let (pps, both) = (executions("pps"), executions("pps+fitness"));
    assert!(2 * both < pps, "{both} executions with fitness, {pps} without");
}

#[test]
fn the_search_is_led_to_missing_vectors() {
    let text = "
        int f(int a, int b, int c, int d, int e) {
            if ((a == 11 || b == 22) && (c == 33 || d == 44) && e != 55) return 1;
            return 0;
        }";
    let built = with_cells(text, 5, "f(a, b, c, d, e)");
    for strategy in ["pps", "pps+fitness", "auto"] {
        let result = campaign_for(&built, &["mcdc"], strategy, &CampaignOptions::default());
        assert!(matches!(result.stop, StopReason::Complete), "{strategy}: {:?}", result.stop);
        assert_eq!(result.queries.unsat, 0, "{strategy}");
        // five conditions need six vectors; the two first inputs may share one
        assert!(result.executions <= 8, "{strategy}: {} executions", result.executions);
    }
}

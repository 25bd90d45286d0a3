//! Both versions of a function in one program, and C that says where they differ.
//!
//! Method: the functions and variables of the old version get a prefix by the preprocessor; one function of ours takes the parameters,
//! copies what they point to, calls both, and compares what they return and leave behind. "They differ" is then a branch like any
//! other: the search has the expressions of both versions over one input and asks for it in one query. Every input that it finds is run
//! on native builds of both versions before anything is said of it ([`super::differences`]). Limits: copies are as deep as one pointer;
//! `static` variables of the old version are not compared; what functions that are defined nowhere return goes to the old version
//! first.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use frontend::sources::CompileCommand;
use model::ctype::declare::{declaration, prototype};
use model::ctype::{CFunction, CParameter, CTypeId, CTypeKind, CTypes};
use report::mutation::Mutation;
use serde_json::json;

use crate::error::Error;
use crate::spec::{CriteriaSpec, InputSpec, SourceSpec, Spec};
use crate::subject::Subject;

/// The function that calls both.
pub const DIFFERS: &str = "quarry_differs";

const OLD: &str = "quarry_old_";

/// Structures in structures are compared this far down.
const DEEPEST: u32 = 3;

/// What both versions need.
const PROLOGUE: &str = "
extern unsigned long long __quarry_room(const void *address);
extern void *__quarry_new(unsigned long long count, unsigned long long size);

static void *quarry_copied(const void *from)
{
    unsigned long long size = from ? __quarry_room(from) : 0;
    void *to = size ? __quarry_new(size, 1) : 0;
    if (size)
        __builtin_memcpy(to, from, size);
    return to ? to : (void *)from;
}

static int quarry_bytes(const void *one, const void *other, unsigned long long size)
{
    unsigned char differ = 0;
    for (unsigned long long i = 0; i < size; i++)
        differ |= ((const unsigned char *)one)[i] ^ ((const unsigned char *)other)[i];
    return differ;
}
";

/// Writes the program to `work`, and gives the campaign that looks for differences in it.
pub fn write(spec: &Spec, new: &Subject, old: &Subject, work: &Path) -> Result<Spec, Error> {
    std::fs::create_dir_all(work)
        .map_err(|error| Error::internal(format!("cannot create {}: {error}", work.display())))?;
    let mut sources = Sources { work, commands: Vec::new(), files: Vec::new() };
    sources.add_both(spec, new, old, &old_unit(old, tested(old)))?;
    sources.campaign(spec, new)
}

/// A program with the original and all mutants of its unit.
pub struct Product {
    pub spec: Spec,
    /// By the number of a mutant in the native program: the argument that chooses it.
    pub numbers: BTreeMap<u32, u32>,
}

/// What the text with mutants asks, in code that is no part of Quarry's runtime.
const CHOSEN: &str = "extern unsigned quarry_mutant; \
    static inline __attribute__((unused)) int quarry_m(unsigned q) { return quarry_mutant == q; } \
    static inline __attribute__((unused)) void quarry_unnoted(unsigned q) { (void)q; }";

/// The first argument of the process is the number of the mutant.
const CHOICE: &str = "unsigned quarry_mutant;

__attribute__((constructor)) static void quarry_choose(int argc, char **argv)
{
    for (const char *text = argc > 1 ? argv[1] : \"\"; *text >= '0' && *text <= '9'; text++)
        quarry_mutant = quarry_mutant * 10 + (unsigned)(*text - '0');
}
";

/// Writes a program with the subject and its mutants to `work`.
pub fn write_mutants(
    spec: &Spec,
    subject: &Subject,
    scope: &coverage::Scope,
    mutation: &Mutation,
    work: &Path,
) -> Result<Product, Error> {
    std::fs::create_dir_all(work)
        .map_err(|error| Error::internal(format!("cannot create {}: {error}", work.display())))?;
    let unit = subject.mutated_unit(scope)?;
    let text = String::from_utf8_lossy(&unit.text);
    // the first line declares what Quarry's own program of mutants has
    let (_, text) = text.split_once('\n').unwrap_or(("", &text));
    // what tells where a mutant differs is for runs without a search
    let text = text.replace("if(__quarry_mutant==0xffffffffu)", "if(0)");
    let text = text.replace("__quarry_differs(", "quarry_unnoted(").replace("__quarry_m(", "quarry_m(");
    let text = format!("{CHOSEN}\n{text}\n{}", called_from_outside(subject, tested(subject)));
    let mut sources = Sources { work, commands: Vec::new(), files: Vec::new() };
    sources.add_both(spec, subject, subject, &text)?;
    let (own, _) = subject.commands();
    let choice = sources.save("choice.c", CHOICE)?;
    sources.add(choice, own, &[]);
    let place = |file: &str, line: u32, column: u32| {
        (file.rsplit('/').next().unwrap_or(file).to_owned(), line, column)
    };
    let key = |mutant: &frontend::mutate::Mutant| {
        let file = &unit.files[mutant.at.file.index()].path;
        (place(file, mutant.at.line, mutant.at.column), mutant.before.clone(), mutant.after.clone())
    };
    let mut known: BTreeMap<_, Vec<u32>> = BTreeMap::new();
    for mutant in unit.mutants.iter().rev() {
        known.entry(key(mutant)).or_default().push(mutant.number);
    }
    let mut numbers = BTreeMap::new();
    for line in &mutation.list {
        let at = place(&line.place.file, line.place.line, line.place.column);
        let number = known.get_mut(&(at, line.before.clone(), line.after.clone())).and_then(Vec::pop);
        numbers.extend(number.map(|number| (line.id, number)));
    }
    Ok(Product { spec: sources.campaign(spec, subject)?, numbers })
}

/// Files and how they are compiled, on their way to a compilation database.
struct Sources<'a> {
    work: &'a Path,
    commands: Vec<serde_json::Value>,
    files: Vec<PathBuf>,
}

impl Sources<'_> {
    fn add(&mut self, file: PathBuf, command: &CompileCommand, flags: &[String]) {
        let own = command.preprocess.iter().chain(&command.compile).chain(&command.link).chain(flags);
        let mut arguments: Vec<String> = std::iter::once("cc".to_owned()).chain(own.cloned()).collect();
        arguments.extend(["-c".to_owned(), file.display().to_string()]);
        self.commands.push(json!({ "directory": command.directory, "file": file, "arguments": arguments }));
        self.files.push(file);
    }

    fn save(&self, name: &str, text: &str) -> Result<PathBuf, Error> {
        let file = self.work.join(name);
        let written = std::fs::write(&file, text).map(|()| file);
        written.map_err(|error| {
            Error::internal(format!("cannot write {name} to {}: {error}", self.work.display()))
        })
    }

    /// All of the new version with the function that compares, and all of the old one with other names; `old_text` is the function's unit.
    fn add_both(&mut self, spec: &Spec, new: &Subject, old: &Subject, old_text: &str) -> Result<(), Error> {
        let driver = self.save("differs.c", &driver(new, old, tested(new), tested(old), spec))?;
        let (own, others) = new.commands();
        self.add(driver, own, &[]);
        for command in others {
            self.add_whole("new", command, &[])?;
        }
        let renames = renames(old);
        let text = self.save("old.c", old_text)?;
        let (own, others) = old.commands();
        self.add(text, own, &renames);
        for command in others {
            self.add_whole("old", command, &renames)?;
        }
        Ok(())
    }

    /// A unit under a name of its own: a file of both versions is compiled twice.
    fn add_whole(&mut self, version: &str, command: &CompileCommand, flags: &[String]) -> Result<(), Error> {
        let source = command.directory.join(&command.source);
        let name = format!("{version}{}.c", self.files.len());
        let file = self.save(&name, &format!("#include \"{}\"\n", source.display()))?;
        self.add(file, command, flags);
        Ok(())
    }

    /// The campaign that looks for differences.
    fn campaign(self, spec: &Spec, new: &Subject) -> Result<Spec, Error> {
        self.save("compile_commands.json", &serde_json::Value::from(self.commands.clone()).to_string())?;
        let (files, work) = (self.files, self.work);
        let mut found = spec.clone();
        let (inputs, _) = spec.inputs.for_function(new.function());
        found.inputs = InputSpec { of_function: BTreeMap::new(), ..inputs };
        found.sources = SourceSpec { files, build_dir: Some(work.to_owned()), flags: Vec::new() };
        found.subject.function = Some(DIFFERS.to_owned());
        found.criteria = CriteriaSpec::default();
        Ok(found)
    }
}

fn tested(subject: &Subject) -> &CFunction {
    let declarations = &subject.marks().declarations;
    let own = |function: &&CFunction| {
        function.key.unit == subject.unit() && function.key.name == subject.function()
    };
    declarations.functions.iter().find(own).expect("a function with a harness is defined")
}

/// Other names for all that the old version shows to other units.
fn renames(old: &Subject) -> Vec<String> {
    let declarations = &old.marks().declarations;
    let functions = declarations.functions.iter().filter(|function| !function.is_static && !function.system);
    let globals = declarations.globals.iter().filter(|global| !global.is_static);
    let names: BTreeSet<&str> = functions
        .map(|function| function.key.name.as_str())
        .chain(globals.map(|global| global.name.as_str()))
        .collect();
    names.into_iter().map(|name| format!("-D{name}={OLD}{name}")).collect()
}

/// The old unit; a `static` function is called by one that is not.
fn old_unit(old: &Subject, function: &CFunction) -> String {
    let file = old.marks().units[old.unit()].real_path.display();
    format!("#include \"{file}\"\n{}", called_from_outside(old, function))
}

/// For a `static` function one that calls it and is not.
fn called_from_outside(old: &Subject, function: &CFunction) -> String {
    let mut text = String::new();
    if function.is_static {
        let types = &old.marks().declarations.types;
        let names = function.parameter_names().join(", ");
        let renamed = prototype_as(types, function, &called(function));
        let is_void = matches!(types[function.result].kind, CTypeKind::Void);
        let give = if is_void { "" } else { "return " };
        _ = writeln!(text, "{renamed}\n{{\n    {give}{}({names});\n}}", function.key.name);
    }
    text
}

/// What the old function is called by ours.
fn called(function: &CFunction) -> String {
    if function.is_static {
        format!("quarry_call_{}", function.key.name)
    } else {
        format!("{OLD}{}", function.key.name)
    }
}

fn prototype_as(types: &CTypes, function: &CFunction, name: &str) -> String {
    let mut renamed = function.clone();
    name.clone_into(&mut renamed.key.name);
    prototype(types, &renamed)
}

/// The unit of the new version, with the function that calls both.
fn driver(new: &Subject, old: &Subject, after: &CFunction, before: &CFunction, spec: &Spec) -> String {
    let declarations = &new.marks().declarations;
    let types = &declarations.types;
    let mut text = format!("#include \"{}\"\n", new.marks().units[new.unit()].real_path.display());
    text.push_str(PROLOGUE);
    _ = writeln!(text, "\nextern {};", prototype_as(types, after, &called(before)));
    let globals = shared_globals(new, old);
    for name in &globals {
        _ = writeln!(text, "extern __typeof__({name}) {OLD}{name};");
    }
    let names = after.parameter_names();
    let parameter = |(parameter, name): (&CParameter, &String)| declaration(types, parameter.ty, name);
    let parameters: Vec<String> = after.parameters.iter().zip(&names).map(parameter).collect();
    let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    _ = writeln!(text, "\nint {DIFFERS}({parameters})\n{{");
    let mut copies = Vec::new();
    for (parameter, name) in after.parameters.iter().zip(&names) {
        match behind(types, parameter.ty) {
            Some(_) => {
                _ = writeln!(text, "    __typeof__({name}) quarry_{name} = quarry_copied({name});");
                copies.push(format!("quarry_{name}"));
            }
            None => copies.push(name.clone()),
        }
    }
    for name in globals.iter().filter(|name| spec.inputs.globals || spec.inputs.global.contains(name)) {
        _ = writeln!(
            text,
            "    __builtin_memcpy((void *)&{OLD}{name}, (const void *)&{name}, sizeof {name});"
        );
    }
    let (was, is) = (
        format!("{}({})", called(before), copies.join(", ")),
        format!("{}({})", after.key.name, names.join(", ")),
    );
    let mut compare = Comparer { types, text: String::new() };
    if matches!(types[after.result].kind, CTypeKind::Void) {
        _ = writeln!(text, "    {was};\n    {is};");
    } else {
        let result = |name: &str| declaration(types, after.result, name);
        _ = writeln!(text, "    {} = {was};\n    {} = {is};", result("quarry_was"), result("quarry_is"));
        compare.text.push_str("    unsigned quarry_result = 0;\n");
        compare.value("quarry_result", "quarry_is", "quarry_was", after.result, 0);
        compare.text.push_str("    if (quarry_result)\n        return 1;\n");
    }
    for (parameter, name) in after.parameters.iter().zip(&names) {
        let Some(target) = behind(types, parameter.ty) else { continue };
        compare.behind(name, target);
    }
    for name in &globals {
        _ = writeln!(
            compare.text,
            "    if (quarry_bytes((const void *)&{name}, (const void *)&{OLD}{name}, sizeof {name}))\n        return 3;"
        );
    }
    text.push_str(&compare.text);
    text.push_str("    return 0;\n}\n");
    text
}

/// What a pointer leads to that the function may change and that can be copied.
fn behind(types: &CTypes, ty: CTypeId) -> Option<CTypeId> {
    match &types[ty].kind {
        CTypeKind::Pointer { to, const_target: false } => match &types[*to].kind {
            CTypeKind::Function(_) | CTypeKind::Other => None,
            CTypeKind::Struct { .. } if types[*to].size == 0 || types[*to].spelling == "FILE" => None,
            CTypeKind::Void
            | CTypeKind::Bool
            | CTypeKind::Char { .. }
            | CTypeKind::Integer { .. }
            | CTypeKind::Enum { .. }
            | CTypeKind::Float { .. }
            | CTypeKind::Pointer { .. }
            | CTypeKind::Array { .. }
            | CTypeKind::Struct { .. } => Some(*to),
        },
        CTypeKind::Pointer { .. }
        | CTypeKind::Void
        | CTypeKind::Bool
        | CTypeKind::Char { .. }
        | CTypeKind::Integer { .. }
        | CTypeKind::Enum { .. }
        | CTypeKind::Float { .. }
        | CTypeKind::Array { .. }
        | CTypeKind::Struct { .. }
        | CTypeKind::Function(_)
        | CTypeKind::Other => None,
    }
}

/// Variables of numbers that both versions have, with the same name, size and initial value.
fn shared_globals(new: &Subject, old: &Subject) -> Vec<String> {
    let (after, before) = (&new.marks().declarations, &old.marks().declarations);
    let is_number = |mut ty: CTypeId| {
        while let CTypeKind::Array { element, .. } = after.types[ty].kind {
            ty = element;
        }
        matches!(
            after.types[ty].kind,
            CTypeKind::Bool
                | CTypeKind::Char { .. }
                | CTypeKind::Integer { .. }
                | CTypeKind::Enum { .. }
                | CTypeKind::Float { .. }
        )
    };
    let contents = |subject: &Subject, name: &str| {
        let global = subject.program().globals.iter().find(|global| global.name == name)?;
        Some((global.size, global.bytes.clone()))
    };
    let is_shared = |name: &str| {
        let is_there = before.globals.iter().any(|global| global.name == name && !global.is_static);
        is_there && contents(new, name).is_some() && contents(new, name) == contents(old, name)
    };
    let own = after.globals.iter().filter(|global| global.unit == new.unit() && !global.is_const);
    own.filter(|global| is_number(global.ty) && is_shared(&global.name))
        .map(|global| global.name.clone())
        .collect()
}

/// Writes comparisons that collect differences, so that there is one branch for all of them.
struct Comparer<'a> {
    types: &'a CTypes,
    text: String,
}

impl Comparer<'_> {
    /// What a parameter points to, element by element.
    fn behind(&mut self, name: &str, target: CTypeId) {
        let size = self.types[target].size.max(1);
        self.text.push_str("    {\n    unsigned quarry_object = 0;\n");
        let count = format!("{name} && quarry_{name} != {name} ? __quarry_room({name}) / {size} : 0");
        if self.holds_pointers(target) {
            _ = writeln!(self.text, "    for (unsigned long long i = 0, n = {count}; i < n; i++) {{");
            self.value("quarry_object", &format!("{name}[i]"), &format!("quarry_{name}[i]"), target, 0);
            self.text.push_str("    }\n");
        } else {
            _ = writeln!(
                self.text,
                "    quarry_object = quarry_bytes({name}, quarry_{name}, ({count}) * {size});"
            );
        }
        self.text.push_str("    if (quarry_object)\n        return 2;\n    }\n");
    }

    /// Whether its bytes are not all that it says.
    fn holds_pointers(&self, ty: CTypeId) -> bool {
        match &self.types[ty].kind {
            CTypeKind::Pointer { .. } | CTypeKind::Function(_) | CTypeKind::Other => true,
            CTypeKind::Array { element, .. } => self.holds_pointers(*element),
            // padding has no value
            CTypeKind::Struct { .. } => true,
            CTypeKind::Void
            | CTypeKind::Bool
            | CTypeKind::Char { .. }
            | CTypeKind::Integer { .. }
            | CTypeKind::Enum { .. }
            | CTypeKind::Float { .. } => false,
        }
    }

    /// Adds to `sum` whether two values differ.
    fn value(&mut self, sum: &str, one: &str, other: &str, ty: CTypeId, depth: u32) {
        match &self.types[ty].kind {
            CTypeKind::Bool | CTypeKind::Char { .. } | CTypeKind::Integer { .. } | CTypeKind::Enum { .. } => {
                _ = writeln!(self.text, "    {sum} |= {one} != {other};");
            }
            CTypeKind::Float { .. } => {
                // a value that is no number is equal to any other such
                _ = writeln!(
                    self.text,
                    "    {sum} |= ({one} != {other}) & !(({one} != {one}) & ({other} != {other}));"
                );
            }
            CTypeKind::Pointer { .. } => {
                _ = writeln!(self.text, "    {sum} |= ({one} == 0) != ({other} == 0);");
            }
            CTypeKind::Array { element, length: Some(_) } if !self.holds_pointers(*element) => {
                _ = writeln!(
                    self.text,
                    "    {sum} |= (unsigned)quarry_bytes((const void *)&{one}, (const void *)&{other}, sizeof {one});"
                );
            }
            CTypeKind::Struct { members, union: false } if depth < DEEPEST => {
                let named =
                    members.iter().filter(|member| !member.name.starts_with('(') && !member.name.is_empty());
                let named: Vec<(String, CTypeId)> =
                    named.map(|member| (member.name.clone(), member.ty)).collect();
                for (name, ty) in named {
                    self.value(sum, &format!("{one}.{name}"), &format!("{other}.{name}"), ty, depth + 1);
                }
            }
            CTypeKind::Struct { .. }
            | CTypeKind::Array { .. }
            | CTypeKind::Void
            | CTypeKind::Function(_)
            | CTypeKind::Other => {}
        }
    }
}

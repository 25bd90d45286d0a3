//! The C that fills an input by its plan.
//!
//! Arrays are filled by loops, so that the code stays short; the key of an element is computed from the loop counters in
//! the same order in which the tree lists its cells. Each target of pointers has a function, which asks what the pointer
//! is to be and fills a new object.

use std::fmt::Write;

use model::ctype::declare::{declaration, typed};
use model::ctype::{CTypeKind, CTypes};
use model::input::{Callee, OBJECT_DEPTH};

use super::plan::{CallbackStub, Member, Plan, Target};

/// Declarations of what the runtime offers.
pub const PROLOGUE: &str = "\
extern void __quarry_cell(unsigned long long key, void *memory, unsigned bytes, unsigned bits);
extern unsigned long long __quarry_part_key(unsigned long long object, unsigned long long index);
extern unsigned long long __quarry_size(unsigned long long key, unsigned long long first, unsigned long long least,
                                        unsigned long long most);
extern void *__quarry_new(unsigned long long count, unsigned long long size);
extern int __quarry_is_fresh(unsigned long long key, unsigned first);
extern int __quarry_pointer(unsigned long long key, void *where, const void *fresh, unsigned type, unsigned first,
                            unsigned long long n_elements);
extern unsigned __quarry_option(unsigned long long key, unsigned first, unsigned n);
extern void __quarry_object(const void *address, unsigned type, unsigned long long n_elements);
extern void __quarry_function(unsigned long long key, void *where, const void *const *functions, unsigned n,
                              unsigned first);
extern void __quarry_input_file(unsigned long long key, const char *name, unsigned long long most);
extern void __quarry_count(unsigned long long key, void *memory, unsigned bytes, unsigned bits,
                           const void *const *pointers, unsigned n_pointers);
";

/// Writes code for one function of the harness.
pub struct Filler<'a> {
    types: &'a CTypes,
    pub text: String,
    /// How many pointers may still be followed, as C.
    depth: String,
    /// The object whose parts the keys name, as C; none for the input's own cells.
    object: Option<String>,
    /// Loops around the code being written.
    loops: usize,
    /// What the loop counters add to a key.
    key_terms: String,
}

impl<'a> Filler<'a> {
    /// For the input's own cells.
    pub fn new(types: &'a CTypes, max_depth: u32) -> Self {
        let depth = max_depth.to_string();
        Self { types, text: String::new(), depth, object: None, loops: 0, key_terms: String::new() }
    }

    /// For parts of the object whose key is in the variable `object`.
    pub fn of_object(types: &'a CTypes, object: &str) -> Self {
        Self { object: Some(object.to_owned()), ..Self::new(types, 0) }
    }

    /// Writes the code that fills `lvalue`, whose members follow behind `arrow`; its first cell has the key `key`, moved by
    /// the loops around it.
    pub fn fill(&mut self, lvalue: &str, arrow: &str, key: u64, plan: &Plan) {
        let cell_key = self.key(key);
        match plan {
            Plan::Scalar(scalar) => {
                let bits = scalar.bits();
                self.line(&format!("__quarry_cell({cell_key}, (void *)&{lvalue}, sizeof {lvalue}, {bits});"));
            }
            Plan::BitField { scalar, ty } => {
                let (bits, indent) = (scalar.bits(), self.indent());
                let declared = declaration(self.types, *ty, "__value");
                let _ = writeln!(
                    self.text,
                    "{indent}{{\n{indent}    {declared} = {lvalue};\n\
                     {indent}    __quarry_cell({cell_key}, &__value, sizeof __value, {bits});\n\
                     {indent}    {lvalue} = __value;\n{indent}}}"
                );
            }
            Plan::Array { element, length, .. } => self.array(lvalue, key, element, *length),
            Plan::Struct(members) => self.members(&format!("{lvalue}{arrow}"), key, members),
            Plan::Pointer { target, first, .. } => {
                let depth = self.depth.clone();
                self.line(&format!(
                    "__quarry_point_{target}({cell_key}, (void *)&{lvalue}, {first}, {depth});"
                ));
            }
            // the end of an object behind a pointer, whose function knows the number
            Plan::Sized { element, .. } => self.elements(lvalue, key, element),
            Plan::Union { members, first } => self.union(&format!("{lvalue}{arrow}"), key, members, *first),
            Plan::Function { options } => {
                let functions = options.iter().map(|callee| match callee {
                    Callee::Stub(number) => format!("(const void *)__quarry_stub_{number}"),
                    Callee::Function(name) => format!("(const void *){name}"),
                });
                let (functions, n) = (functions.collect::<Vec<_>>().join(", "), options.len());
                self.line(&format!(
                    "__quarry_function({cell_key}, (void *)&{lvalue}, (const void *const[]){{{functions}}}, {n}, 1);"
                ));
            }
            Plan::Stream { most } => {
                self.line(&format!("__quarry_input_file({cell_key}, \"{lvalue}.input\", {most});"));
                self.line(&format!("{lvalue} = fopen(\"{lvalue}.input\", \"r+\");"));
            }
            Plan::Unsupported(_) => {}
        }
    }

    /// Fills a number that counts elements behind pointers.
    pub fn count(&mut self, lvalue: &str, key: u64, plan: &Plan, pointers: &[String]) {
        let Plan::Scalar(scalar) = plan else { return self.fill(lvalue, ".", key, plan) };
        let (cell_key, bits, n) = (self.key(key), scalar.bits(), pointers.len());
        let addresses = pointers.iter().map(|pointer| format!("&{pointer}")).collect::<Vec<_>>().join(", ");
        self.line(&format!("/* at most the elements of {} */", pointers.join(", ")));
        self.line(&format!(
            "__quarry_count({cell_key}, (void *)&{lvalue}, sizeof {lvalue}, {bits}, \
             (const void *const[]){{{addresses}}}, {n});"
        ));
    }

    fn members(&mut self, prefix: &str, first_key: u64, members: &[Member]) {
        let mut keys = Vec::new();
        let mut key = first_key;
        for member in members {
            keys.push(key);
            key += member.plan.n_cells();
        }
        let all = || members.iter().zip(&keys);
        for (member, key) in all().filter(|(member, _)| member.counts.is_empty()) {
            if member.name.starts_with('(') {
                // without a name: its members are those of the structure
                self.fill(prefix, "", *key, &member.plan);
            } else {
                self.fill(&format!("{prefix}{}", member.name), ".", *key, &member.plan);
            }
        }
        // when what they count is there
        for (member, key) in all().filter(|(member, _)| !member.counts.is_empty()) {
            let pointers: Vec<_> =
                member.counts.iter().map(|index| format!("{prefix}{}", members[*index].name)).collect();
            if let [tail] = member.counts.as_slice()
                && matches!(members[*tail].plan, Plan::Sized { .. })
            {
                self.line(&format!("const void *__tail = {};", pointers[0]));
                self.line("__quarry_object(__tail, -1, n);");
                self.count(&format!("{prefix}{}", member.name), *key, &member.plan, &["__tail".to_owned()]);
                continue;
            }
            self.count(&format!("{prefix}{}", member.name), *key, &member.plan, &pointers);
        }
    }

    fn array(&mut self, lvalue: &str, key: u64, element: &Plan, length: u64) {
        let per_element = element.n_cells();
        if per_element == 0 || length == 0 {
            return;
        }
        if length == 1 {
            return self.fill(&format!("{lvalue}[0]"), ".", key, element);
        }
        let counter = format!("__i{}", self.loops);
        self.line(&format!("for (unsigned {counter} = 0; {counter} < {length}; {counter}++) {{"));
        let outer = self.key_terms.clone();
        self.key_terms = match per_element {
            1 => format!("{outer} + {counter}"),
            n => format!("{outer} + {n} * {counter}"),
        };
        self.loops += 1;
        self.fill(&format!("{lvalue}[{counter}]"), ".", key, element);
        self.loops -= 1;
        self.key_terms = outer;
        self.line("}");
    }

    /// Fills the elements of an array, each an object of its own; their number is in `n`.
    fn elements(&mut self, lvalue: &str, size_key: u64, element: &Plan) {
        let (counter, object) = (format!("__i{}", self.loops), format!("__key{}", self.loops));
        let size_key = self.key(size_key);
        self.line(&format!("for (unsigned long long {counter} = 0; {counter} < n; {counter}++) {{"));
        let outer = (self.object.replace(object.clone()), std::mem::take(&mut self.key_terms));
        self.loops += 1;
        self.line(&format!("unsigned long long {object} = __quarry_part_key({size_key}, {counter});"));
        self.fill(&format!("{lvalue}[{counter}]"), ".", 0, element);
        self.loops -= 1;
        (self.object, self.key_terms) = outer;
        self.line("}");
    }

    /// Fills the member of a union that the input chooses.
    fn union(&mut self, prefix: &str, key: u64, members: &[Member], first: usize) {
        let (object, choice) = (format!("__union{}", self.loops), self.key(key));
        let n = members.len();
        self.line("{");
        self.loops += 1;
        self.line(&format!("unsigned long long {object} = {choice};"));
        self.line(&format!("switch (__quarry_option({object}, {first}, {n})) {{"));
        let outer = (self.object.take(), std::mem::take(&mut self.key_terms));
        for (number, member) in members.iter().enumerate() {
            self.line(&format!("case {number}:"));
            self.object = Some(format!("__quarry_part_key({object}, {number})"));
            self.loops += 1;
            self.fill(&format!("{prefix}{}", member.name), ".", 0, &member.plan);
            self.line("break;");
            self.loops -= 1;
        }
        (self.object, self.key_terms) = outer;
        self.line("}");
        self.loops -= 1;
        self.line("}");
    }

    fn key(&self, key: u64) -> String {
        let number = match self.key_terms.strip_prefix(" + ") {
            Some(terms) if key == 0 => terms.to_owned(),
            Some(_) | None => format!("{key}{}", self.key_terms),
        };
        match &self.object {
            Some(object) => format!("__quarry_part_key({object}, {number})"),
            None => number,
        }
    }

    fn indent(&self) -> String {
        "    ".repeat(1 + self.loops)
    }

    pub fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}{line}", self.indent());
    }
}

/// The functions that set pointers: declarations first, because they call each other.
pub fn point_functions(types: &CTypes, targets: &[Target], max_depth: u32) -> String {
    let mut text = String::new();
    let head = |number: usize| {
        format!(
            "static void __quarry_point_{number}(unsigned long long key, void *pointer, unsigned first, unsigned depth)"
        )
    };
    for number in 0..targets.len() {
        let _ = writeln!(text, "{};", head(number));
    }
    for (number, target) in targets.iter().enumerate() {
        let _ =
            writeln!(text, "/* null, something new, or something that is there: {} */", target.element_type);
        let _ = writeln!(text, "{}\n{{", head(number));
        text.push_str(&point_body(types, number, target, max_depth));
        text.push_str("}\n");
    }
    text
}

/// The array at the end of a structure: its name, the number of its size, and how many elements it has at first and at most.
fn tail(plan: &Plan) -> Option<(&str, u64, u64, u64)> {
    let Plan::Struct(members) = plan else { return None };
    let (tail, others) = members.split_last()?;
    let Plan::Sized { first, most, .. } = tail.plan else { return None };
    Some((&tail.name, others.iter().map(|member| member.plan.n_cells()).sum(), first, most))
}

/// The functions for pointers to functions: what each call returns is input. Their keys start at `key`.
pub fn stub_functions(types: &CTypes, stubs: &[CallbackStub], key: u64) -> String {
    let mut text = String::new();
    for (stub, (number, key)) in stubs.iter().zip((0..).zip(key..)) {
        let parameters: Vec<_> = stub
            .signature
            .parameters
            .iter()
            .enumerate()
            .map(|(index, ty)| declaration(types, *ty, &format!("arg{index} __attribute__((unused))")))
            .collect();
        let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
        let head =
            declaration(types, stub.signature.result, &format!("__quarry_stub_{number}({parameters})"));
        let _ = writeln!(text, "static {head}\n{{");
        let is_void = matches!(types[stub.signature.result].kind, CTypeKind::Void);
        if !is_void {
            let result = declaration(types, stub.signature.result, "result");
            let mut filler = Filler::new(types, 0);
            filler.line(&format!("static {result};"));
            if let Plan::Scalar(_) = stub.result {
                filler.line("static unsigned long long n_calls;");
                filler.line(&format!("unsigned long long key = __quarry_part_key({key}, n_calls++);"));
                filler.object = Some("key".to_owned());
                filler.line("result = 0;");
                filler.fill("result", ".", 0, &stub.result);
            }
            filler.line("return result;");
            text.push_str(&filler.text);
        }
        text.push_str("}\n");
    }
    text
}

fn point_body(types: &CTypes, number: usize, target: &Target, max_depth: u32) -> String {
    let mut filler = Filler::new(types, 0);
    filler.object = Some("key".to_owned());
    "depth - 1".clone_into(&mut filler.depth);
    if let Plan::Unsupported(_) = target.plan {
        filler.line("(void)key, (void)pointer, (void)first, (void)depth;");
        return filler.text;
    }
    let object = typed(&target.element_type, "*object");
    filler.line("if (depth == 0)");
    filler.line("    return;");
    match &target.plan {
        Plan::Sized { element, first, least, most, zero_ended, .. } => {
            let size = format!("__quarry_size(__quarry_part_key(key, 0), {first}, {least}, {most})");
            filler.line(&format!("unsigned long long n = __quarry_is_fresh(key, first) ? {size} : 0;"));
            let extra = if *zero_ended { " + 1" } else { "" };
            filler.line(&format!("{object} = __quarry_new(n{extra}, sizeof *object);"));
            filler.line(&format!("if (!__quarry_pointer(key, pointer, object, {number}, first, n))"));
            filler.line("    return;");
            filler.elements("object", 0, element);
        }
        plan => {
            // that many structures at first, and no more
            if matches!(plan, Plan::Struct(_) | Plan::Union { .. }) && max_depth > OBJECT_DEPTH {
                filler.line(&format!("if (depth <= {})", max_depth - OBJECT_DEPTH));
                filler.line("    first = 0;");
            }
            let tail = tail(plan);
            let mut size = "sizeof *object".to_owned();
            if let Some((name, at, first, most)) = &tail {
                let asked = format!("__quarry_size(__quarry_part_key(key, {at}), {first}, 0, {most})");
                filler.line(&format!("unsigned long long n = __quarry_is_fresh(key, first) ? {asked} : 0;"));
                size = format!("{size} + n * sizeof ((({} *)0)->{name}[0])", target.element_type);
            }
            filler.line(&format!("{object} = __quarry_new(1, {size});"));
            filler.line(&format!("if (!__quarry_pointer(key, pointer, object, {number}, first, 1))"));
            filler.line("    return;");
            match plan {
                Plan::Struct(_) => filler.fill("object", "->", 0, plan),
                _ => filler.fill("object[0]", ".", 0, plan),
            }
        }
    }
    filler.text
}

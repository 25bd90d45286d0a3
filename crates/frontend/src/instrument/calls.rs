//! Calls: shadows of arguments and results, library functions the runtime knows, indirect calls, `setjmp`.

use model::GapKind;

use super::function::FunctionPass;
use super::library::{MODEL_PREFIX, is_model};
use super::pass::signature;
use super::watch::WATCH_HOOK;
use crate::agreement::direct_callee;
use crate::llvm::{AttributePlace, Type, Value};

const EXITS: [&str; 4] = ["exit", "_exit", "_Exit", "quick_exit"];
/// How a program ends itself as failed.
const ABORTS: [&str; 4] = ["abort", "__assert_fail", "__assert_perror_fail", "__assert"];
const OTHER_PROCESSES: [&str; 17] = [
    "pthread_create",
    "thrd_create",
    "fork",
    "vfork",
    "system",
    "popen",
    "clone",
    "posix_spawn",
    "posix_spawnp",
    "execl",
    "execle",
    "execlp",
    "execv",
    "execve",
    "execvp",
    "execvpe",
    "daemon",
];

/// Functions that leave their caller.
const JUMPS: [&str; 2] = ["longjmp", "siglongjmp"];
/// Functions after which a run goes on the same whatever they were given, as long as nobody looks at what they return: they
/// write output, give something back, or end the run.
const WITHOUT_EFFECT: [&str; 45] = [
    "printf",
    "vprintf",
    "fprintf",
    "vfprintf",
    "dprintf",
    "vdprintf",
    "__printf_chk",
    "__vprintf_chk",
    "__fprintf_chk",
    "__vfprintf_chk",
    "puts",
    "fputs",
    "fputs_unlocked",
    "putchar",
    "putchar_unlocked",
    "putc",
    "putc_unlocked",
    "fputc",
    "fputc_unlocked",
    "_IO_putc",
    "fwrite",
    "fwrite_unlocked",
    "write",
    "perror",
    "error",
    "syslog",
    "vsyslog",
    "warn",
    "warnx",
    "err",
    "errx",
    "psignal",
    "fflush",
    "free",
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "abort",
    "__assert_fail",
    "__assert_perror_fail",
    "__assert",
    "fclose",
    "close",
    "closedir",
];

/// What becomes of a call.
enum Target<'m> {
    Assembly,
    Intrinsic(String),
    Instrumented(Value<'m>),
    Library(String),
    Pointer,
}

impl<'m> FunctionPass<'_, 'm> {
    pub fn visit_call(&mut self, call: Value<'m>) {
        match self.target(call) {
            Target::Assembly => {
                if self.is_symbolic() {
                    self.pin_operands(call, GapKind::InlineAssembly, "inline assembly");
                }
            }
            Target::Intrinsic(name) => {
                if self.is_symbolic() {
                    self.visit_intrinsic(call, &name);
                }
            }
            Target::Instrumented(callee) => self.call_instrumented(call, callee),
            Target::Library(name) => self.call_library(call, &name),
            Target::Pointer => self.call_pointer(call),
        }
    }

    fn target(&self, call: Value<'m>) -> Target<'m> {
        if call.metadata(self.pass.kinds.indirect).is_some() {
            return Target::Pointer;
        }
        if call.callee().is_inline_assembly() {
            return Target::Assembly;
        }
        match direct_callee(call) {
            Some(callee) if callee.is_intrinsic() => Target::Intrinsic(callee.name()),
            Some(callee) if self.pass.is_instrumented(callee) => Target::Instrumented(callee),
            Some(callee) => Target::Library(callee.name()),
            None => Target::Pointer,
        }
    }

    fn call_instrumented(&mut self, call: Value<'m>, callee: Value<'m>) {
        self.ir.place_before(call);
        let agrees = call.call_type() == callee.value_type();
        let caller = self.announce_model(call, callee);
        if self.pass.has_expressions(callee) {
            if agrees && self.is_symbolic() {
                self.pass_arguments(call);
                self.pass_variable_arguments(call);
            } else {
                self.pass_nothing(callee.value_type());
                if !agrees && callee.value_type().is_variadic() {
                    self.gap(GapKind::VariableArguments, call, callee.name());
                }
            }
        }
        if !self.pass.is_unannounced(callee) {
            self.act("__quarry_expect", &[callee]);
        }
        // a callee that was declared without parameters still gives what the call expects
        let gives = call.call_type().result() == callee.value_type().result();
        let has_result = gives && self.pass.has_expressions(callee);
        if self.is_symbolic() && has_result && !call.is_must_tail() {
            self.place_after(call);
            self.receive_result(call, None);
        }
        if let Some(caller) = caller {
            self.place_after(call);
            self.ir.store(self.word().zero(), caller);
        }
    }

    /// Tells a model who calls it; where that is kept.
    fn announce_model(&mut self, call: Value<'m>, callee: Value<'m>) -> Option<Value<'m>> {
        let name = callee.name();
        let function = name.strip_prefix(MODEL_PREFIX)?;
        if !self.is_symbolic() || call.is_must_tail() || is_model(&self.function.name()) {
            return None;
        }
        let site = self.site(GapKind::LibraryFunction, call, function);
        let caller = self.slot("__quarry_caller", self.word(), 0);
        self.ir.store(site, caller);
        Some(caller)
    }

    fn call_pointer(&mut self, call: Value<'m>) {
        self.ir.place_before(call);
        if self.is_symbolic() {
            let site = self.site(GapKind::PinnedValue, call, "the function that is called");
            self.pin(call.callee(), site);
            self.pass_arguments(call);
            self.pass_variable_arguments(call);
        } else if self.lists_objects() {
            self.pass_nothing(call.call_type());
        }
        let number = signature(call.call_type(), |place, name| call.call_has_attribute(place, name));
        let trusted = self.node("__quarry_indirect", &[call.callee(), self.number(number)]);
        if self.is_symbolic() && !call.is_must_tail() {
            self.place_after(call);
            self.receive_result(call, Some(trusted));
        }
    }

    /// Writes the shadows of the fixed arguments where the callee reads them; those without a place there are pinned.
    fn pass_arguments(&mut self, call: Value<'m>) {
        let parameters = call.call_type().parameters();
        let slots = self.parameter_slots(&parameters);
        for ((index, argument), slot) in (0..).zip(call.call_arguments()).zip(slots) {
            let Some(slot) = slot else {
                let site = self.site(GapKind::PinnedValue, call, "one of very many arguments");
                self.pin(argument, site);
                continue;
            };
            if call.call_has_attribute(AttributePlace::Parameter(index), "byval") {
                let source = self.slot("__quarry_byval", self.address_type(), slot);
                let bytes = self.byval_size(call, index);
                self.announce_read(call, argument, bytes, 0);
                self.ir.store(self.address(argument), source);
                continue;
            }
            for (k, (leaf, shadow)) in
                self.leaves(argument.ty()).iter().zip(self.shadow(argument)).enumerate()
            {
                if leaf.width.is_some() {
                    self.ir.store(shadow, self.slot("__quarry_args", self.word(), slot + k));
                }
            }
        }
    }

    /// The callee's parameters are not those of the call: it gets no shadows.
    fn pass_nothing(&self, ty: Type<'m>) {
        for (parameter, slot) in ty.parameters().iter().zip(self.parameter_slots(&ty.parameters())) {
            let Some(slot) = slot else { continue };
            for index in slot..slot + self.leaves(*parameter).len() {
                self.ir.store(self.word().zero(), self.slot("__quarry_args", self.word(), index));
                let source = self.slot("__quarry_byval", self.address_type(), index);
                self.ir.store(self.address_type().zero(), source);
            }
        }
        if ty.is_variadic() {
            self.pass_no_variable_arguments();
        }
    }

    fn receive_result(&mut self, call: Value<'m>, trusted: Option<Value<'m>>) {
        let read = |this: &Self, index: usize| {
            let shadow = this.ir.load(this.word(), this.slot("__quarry_returns", this.word(), index));
            match trusted {
                Some(trusted) => {
                    let unknown = this.ir.equal(trusted, this.word().zero());
                    this.ir.select(unknown, this.word().zero(), shadow)
                }
                None => shadow,
            }
        };
        let shadow = self
            .leaves(call.ty())
            .iter()
            .enumerate()
            .map(|(index, leaf)| leaf.width.map_or_else(|| self.word().zero(), |_| read(self, index)))
            .collect();
        self.set_shadow(call, shadow);
    }

    fn call_library(&mut self, call: Value<'m>, name: &str) {
        if name == WATCH_HOOK {
            return;
        }
        let arguments = call.call_arguments();
        self.ir.place_before(call);
        if EXITS.contains(&name) && arguments.len() == 1 {
            self.act("__quarry_exit", &[self.ir.as_int(arguments[0], 32)]);
        }
        // only where the model knows, too, that nothing comes behind
        let ends = |callee: Value<'m>| callee.has_attribute(AttributePlace::Function, "noreturn");
        if ABORTS.contains(&name) && direct_callee(call).is_some_and(ends) {
            self.act("__quarry_aborts", &[]);
        }
        if name == "free" && self.lists_objects() && arguments.len() == 1 && arguments[0].ty().is_pointer() {
            self.act("__quarry_freed", &[self.address(arguments[0])]);
        }
        if OTHER_PROCESSES.contains(&name) {
            self.act("__quarry_asks_for_thread", &[]);
        }
        if self.returns_twice(call) {
            return self.call_setjmp(call);
        }
        let known = call.is_must_tail() // nothing may stand between it and the return
            || self.call_allocator(call, name, &arguments)
            || !self.is_symbolic()
            || self.call_known(call, name, &arguments)
            || self.call_of_numbers(call, name, &arguments);
        if !known {
            self.call_unknown(call, name, &arguments);
        }
    }

    fn returns_twice(&self, call: Value<'m>) -> bool {
        let declared =
            direct_callee(call).is_some_and(|f| f.has_attribute(AttributePlace::Function, "returns_twice"));
        declared || call.call_has_attribute(AttributePlace::Function, "returns_twice")
    }

    /// Logs each return with the number of the activation, which must outlive the registers.
    fn call_setjmp(&mut self, call: Value<'m>) {
        let wide = self.ir.int(64);
        self.ir.place_before(self.function.blocks()[0].instructions()[0]);
        let kept = self.ir.alloca(wide);
        self.ir.place_before(call);
        let number = self.pass.runtime("__quarry_setjmp_number", wide, &[]);
        self.ir.store_volatile(number, kept);
        self.place_after(call);
        self.act("__quarry_setjmp_back", &[self.ir.load_volatile(wide, kept)]);
    }

    /// Allocation functions of libc; `call` is still in place unless it is realloc.
    fn call_allocator(&mut self, call: Value<'m>, name: &str, arguments: &[Value<'m>]) -> bool {
        let is_size =
            |index: usize| arguments.get(index).is_some_and(|size| size.ty() == self.address_type());
        let bytes = match (name, arguments.len()) {
            ("malloc" | "valloc" | "pvalloc", 1) if is_size(0) => arguments[0],
            ("aligned_alloc" | "memalign", 2) if is_size(1) => arguments[1],
            ("calloc", 2) if is_size(0) && is_size(1) => self.ir.mul(arguments[0], arguments[1]),
            ("realloc", 2) if arguments[0].ty().is_pointer() && is_size(1) => {
                self.pin_size("__quarry_block_size", call, arguments[1]);
                let replaced = self.pass.runtime("__quarry_realloc", self.ir.pointer(), arguments);
                call.replace_uses_with(replaced);
                call.erase();
                return true;
            }
            _ => return false,
        };
        if !call.ty().is_pointer() {
            return false;
        }
        let size_type = self.address_type();
        for size in arguments.iter().filter(|size| size.ty() == size_type) {
            self.pin_size("__quarry_block_size", call, *size);
        }
        self.place_after(call);
        self.act("__quarry_allocated", &[self.address(call), bytes]);
        true
    }

    /// Memory functions of libc under their own names.
    fn call_known(&mut self, call: Value<'m>, name: &str, arguments: &[Value<'m>]) -> bool {
        let pointers = |n: usize| arguments.len() > n && arguments[..n].iter().all(|a| a.ty().is_pointer());
        let sized = |index: usize| arguments.get(index).is_some_and(|size| size.ty() == self.address_type());
        match name {
            "memcpy" | "memmove" | "mempcpy" | "__memcpy_chk" | "__memmove_chk" | "__mempcpy_chk"
                if pointers(2) && sized(2) =>
            {
                self.copy_memory(call, arguments[0], arguments[1], arguments[2]);
            }
            "bcopy" if pointers(2) && sized(2) => {
                self.copy_memory(call, arguments[1], arguments[0], arguments[2]);
            }
            "memset" | "__memset_chk" if pointers(1) && sized(2) => {
                self.fill_memory(call, arguments[0], arguments[1], arguments[2]);
            }
            "bzero" | "explicit_bzero" if pointers(1) && sized(1) => {
                self.fill_memory(call, arguments[0], self.word().zero(), arguments[1]);
            }
            "__ctype_b_loc" | "__ctype_tolower_loc" | "__ctype_toupper_loc" if call.ty().is_pointer() => {
                let bytes = self.address_type().constant(if name == "__ctype_b_loc" { 2 } else { 4 });
                self.place_after(call);
                self.act("__quarry_character_table", &[call, bytes]);
            }
            "abs" | "labs" | "llabs" if arguments.len() == 1 && call.ty() == arguments[0].ty() => {
                self.visit_intrinsic(call, "llvm.abs.");
            }
            _ => return self.call_with_term(call, name, arguments),
        }
        true
    }

    /// Tells the log that the run goes on with this number of bytes.
    pub fn pin_size(&mut self, function: &str, call: Value<'m>, bytes: Value<'m>) {
        let shadow = self.scalar_shadow(bytes);
        if self.is_symbolic() && !shadow.is_zero() {
            let site = self.site(GapKind::PinnedValue, call, "a number of bytes");
            self.act(function, &[shadow, self.wide(bytes), site]);
        }
    }

    fn byval_size(&self, call: Value<'m>, index: u32) -> u64 {
        let ty = call.call_type_attribute(AttributePlace::Parameter(index), "byval");
        ty.map_or(1, |ty| self.ir.store_size(ty))
    }

    /// Uninstrumented code. What it returns may depend on the arguments, so the run depends on their values.
    fn call_unknown(&mut self, call: Value<'m>, name: &str, arguments: &[Value<'m>]) {
        let is_unused = call.ty().is_void() || call.users().is_empty();
        // functions of the runtime keep track by themselves
        if name.starts_with("__quarry_") || (is_unused && WITHOUT_EFFECT.contains(&name)) {
            return;
        }
        let site = self.site(GapKind::LibraryFunction, call, name);
        for argument in arguments {
            if argument.ty().is_pointer() {
                self.act("__quarry_lend", &[site, self.address(*argument)]);
            }
            let shadow = self.scalar_shadow(*argument);
            if !shadow.is_zero() {
                self.act("__quarry_lend_value", &[site, shadow]);
            }
        }
        if !is_unused || JUMPS.contains(&name) {
            arguments.iter().for_each(|argument| self.pin(*argument, site));
        }
    }
}

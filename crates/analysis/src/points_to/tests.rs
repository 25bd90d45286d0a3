use model::text;

use super::*;

/// What the loads of `main` go through, by the names of variables, in order; `main` begins with pointers to `x` and `y`.
fn pointees(main: &str) -> Vec<String> {
    let text = format!(
        "program pointer 64 root f0\nfile file0 \"t.c\"\nspan s0 file0:1:1\n\
         global g0 \"g\" exported size 8 align 8\n\
         variable v0 \"g\" global at s0 in g0\nvariable v1 \"x\" local at s0 in f0 %0\n\
         variable v2 \"y\" local at s0 in f0 %1\n\
         function f0 \"main\" exported () -> void at s0 {{\nb0:\n %0 = alloca 8 align 8\n %1 = alloca 8 align 8\n\
          %2 = alloca 8 align 8\n %3 = alloca 8 align 8\n{main} return\n}}\n\
         function f1 \"same\" exported (ptr) -> ptr at s0 {{\nb0:\n return p0\n}}\n\
         function f2 \"somebody\" external (ptr, ptr) -> ptr\n"
    );
    let program = text::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let points_to = PointsTo::of(&program);
    let main = program.function(FunctionId(0));
    let loads = main.instrs.iter().filter_map(|instr| match instr.op {
        Op::Load { address, .. } if address_is_loaded(main, address) => Some(address),
        _ => None,
    });
    let name = |pointee: Pointee| match pointee {
        Pointee::Unknown => "?".to_owned(),
        Pointee::Local(_, instr) => ["x", "y", "p", "q"][instr.index()].to_owned(),
        Pointee::Global(_) => "g".to_owned(),
        Pointee::Function(function) => function.to_string(),
        Pointee::Heap(..) => "heap".to_owned(),
        Pointee::Variadic(_) => "...".to_owned(),
    };
    let of = |address| {
        let found = points_to.targets(&program, FunctionId(0), address);
        let mut names: Vec<String> = found.into_iter().map(|(pointee, _)| name(pointee)).collect();
        names.sort();
        names.join(" ")
    };
    loads.map(of).collect()
}

fn address_is_loaded(function: &Function, address: Operand) -> bool {
    matches!(root(function, address).0, Operand::Result(id)
        if matches!(function.instr(id).op, Op::Load { .. } | Op::Call { .. }))
}

#[test]
fn a_pointer_points_to_all_that_was_stored_into_it() {
    let text = " %4 = store ptr %0, %2\n %5 = store ptr %1, %2\n %6 = load ptr, %2\n %7 = load i32, %6\n";
    assert_eq!(pointees(text), ["x y"]);
}

#[test]
fn what_two_pointers_to_one_pointer_store_is_there() {
    // p = &q; *p = &x; *q
    let text = " %4 = store ptr %3, %2\n %5 = load ptr, %2\n %6 = store ptr %0, %5\n %7 = load ptr, %3\n\
                 %8 = load i32, %7\n";
    assert_eq!(pointees(text), ["x"]);
}

#[test]
fn a_function_gives_back_what_it_was_given() {
    let text =
        " %4 = call ptr f1(ptr %0)\n %5 = load i32, %4\n %6 = call ptr f1(ptr g0)\n %7 = load i32, %6\n";
    assert_eq!(pointees(text), ["g x", "g x"], "calls are not told apart");
}

#[test]
fn code_outside_may_store_a_pointer_behind_another() {
    let text = " %4 = call ptr f2(ptr %2, ptr %0)\n %5 = load ptr, %2\n %6 = load i32, %5\n";
    assert_eq!(pointees(text), ["? p x"]);
}

#[test]
fn pointers_that_go_in_circles_are_solved() {
    // p = q; q = p; p = &x
    let text = " %4 = load ptr, %3\n %5 = store ptr %4, %2\n %6 = load ptr, %2\n %7 = store ptr %6, %3\n\
                 %8 = store ptr %0, %2\n %9 = load ptr, %3\n %10 = load i32, %9\n";
    assert_eq!(pointees(text), ["x"]);
}

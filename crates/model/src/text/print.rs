//! Prints the tables of a program; [`super::print_code`] prints the code of functions.

use std::fmt::{Result, Write};

use super::print_code;
use crate::{
    ConditionId, DecisionId, FileId, Function, FunctionId, Global, GlobalId, Layout, Program, RecordId,
    RelocationTarget, Shape, SpanId, StatementKind, Storage, Switch, SwitchId, VariableId, VariableKind,
};

pub(super) fn program(out: &mut String, program: &Program) -> Result {
    write!(out, "program pointer {}", program.pointer_bits)?;
    if let Some(root) = program.root {
        write!(out, " root {root}")?;
    }
    out.push('\n');
    places(out, program)?;
    for (index, record) in program.records.iter().enumerate() {
        write!(out, "record {} size {} {{", RecordId::new(index), record.size)?;
        for (number, (offset, ty)) in record.leaves.iter().enumerate() {
            write!(out, "{} {offset}: {ty}", if number == 0 { "" } else { "," })?;
        }
        out.push_str(" }\n");
    }
    for (index, item) in program.globals.iter().enumerate() {
        global(out, GlobalId::new(index), item)?;
    }
    source_constructs(out, program)?;
    for (index, item) in program.functions.iter().enumerate() {
        function(out, FunctionId::new(index), item)?;
    }
    Ok(())
}

fn places(out: &mut String, program: &Program) -> Result {
    for (index, file) in program.files.iter().enumerate() {
        write!(out, "file {} ", FileId::new(index))?;
        quote(out, &file.path);
        out.push_str(if file.system { " system\n" } else { "\n" });
    }
    for (index, span) in program.spans.iter().enumerate() {
        write!(out, "span {} {}", SpanId::new(index), span.at)?;
        if let Some(spelled) = span.spelled {
            write!(out, " spelled {spelled}")?;
        }
        out.push('\n');
    }
    Ok(())
}

fn global(out: &mut String, id: GlobalId, global: &Global) -> Result {
    write!(out, "global {id} ")?;
    quote(out, &global.name);
    let constant = if global.constant { " constant" } else { "" };
    write!(out, " {}{constant} size {} align {}", global.linkage, global.size, global.align)?;
    if !global.bytes.is_empty() {
        out.push_str(" bytes ");
        quote_bytes(out, &global.bytes);
    }
    if !global.relocations.is_empty() {
        out.push_str(" relocations {");
        for (number, relocation) in global.relocations.iter().enumerate() {
            write!(out, "{} {}: ", if number == 0 { "" } else { "," }, relocation.offset)?;
            match relocation.target {
                RelocationTarget::Global(target) => write!(out, "{target}")?,
                RelocationTarget::Function(target) => write!(out, "{target}")?,
            }
            print_code::displacement(out, relocation.addend)?;
        }
        out.push_str(" }");
    }
    out.push('\n');
    Ok(())
}

fn source_constructs(out: &mut String, program: &Program) -> Result {
    for (index, decision) in program.decisions.iter().enumerate() {
        let id = DecisionId::new(index);
        write!(out, "decision {id} {} {} at {} ", decision.kind, decision.function, decision.span)?;
        shape(out, &decision.shape)?;
        quoted_line(out, &decision.text);
    }
    for (index, condition) in program.conditions.iter().enumerate() {
        write!(out, "condition {} of {} at {}", ConditionId::new(index), condition.decision, condition.span)?;
        quoted_line(out, &condition.text);
    }
    for (index, item) in program.switches.iter().enumerate() {
        switch(out, SwitchId::new(index), item)?;
    }
    for statement in &program.statements {
        write!(out, "statement {}", statement.function)?;
        match statement.kind {
            StatementKind::Return => out.push_str(" return"),
            StatementKind::Other => {}
        }
        write!(out, " at {}", statement.span)?;
        if let Some((block, position)) = statement.code {
            write!(out, " in {block} {position}")?;
        }
        if !statement.text.is_empty() {
            out.push(' ');
            quote(out, &statement.text);
        }
        out.push('\n');
    }
    for (index, variable) in program.variables.iter().enumerate() {
        write!(out, "variable {} ", VariableId::new(index))?;
        quote(out, &variable.name);
        match variable.kind {
            VariableKind::Local => out.push_str(" local"),
            VariableKind::Parameter(number) => write!(out, " parameter {number}")?,
            VariableKind::Global => out.push_str(" global"),
            VariableKind::Static => out.push_str(" static"),
        }
        match variable.storage {
            Storage::Stack(function, instr) => write!(out, " at {} in {function} {instr}", variable.span)?,
            Storage::Global(global) => write!(out, " at {} in {global}", variable.span)?,
        }
        layout(out, &variable.layout)?;
        out.push('\n');
    }
    let sites = program.sites.iter().map(|site| ("site", site));
    for (word, gap) in program.gaps.iter().map(|gap| ("gap", gap)).chain(sites) {
        write!(out, "{word} {}", gap.kind)?;
        if let Some(function) = gap.function {
            write!(out, " in {function}")?;
        }
        print_code::at(out, gap.span)?;
        quoted_line(out, &gap.what);
    }
    Ok(())
}

/// ` { "x" 0 4, "in" 4 8 { … } }`, ` [3 of 8 { … }]`, nothing for one piece.
fn layout(out: &mut String, of: &Layout) -> Result {
    match of {
        Layout::Whole => {}
        Layout::Structure(members) => {
            out.push_str(" {");
            for (number, member) in members.iter().enumerate() {
                out.push_str(if number == 0 { " " } else { ", " });
                quote(out, &member.name);
                write!(out, " {} {}", member.offset, member.size)?;
                layout(out, &member.layout)?;
            }
            out.push_str(" }");
        }
        Layout::Array { length, stride, element } => {
            write!(out, " [{length} of {stride}")?;
            layout(out, element)?;
            out.push(']');
        }
    }
    Ok(())
}

fn switch(out: &mut String, id: SwitchId, switch: &Switch) -> Result {
    write!(out, "switch {id} {} at {} ", switch.function, switch.span)?;
    quote(out, &switch.text);
    out.push_str(" {");
    for (number, label) in switch.labels.iter().enumerate() {
        out.push_str(if number == 0 { " " } else { ", " });
        write!(out, "{} at {}", label.values, label.span)?;
        if !label.text.is_empty() {
            out.push(' ');
            quote(out, &label.text);
        }
    }
    out.push_str(" }\n");
    Ok(())
}

fn shape(out: &mut String, tree: &Shape) -> Result {
    let infix = |out: &mut String, left: &Shape, sign: &str, right: &Shape| {
        out.push('(');
        shape(out, left)?;
        write!(out, " {sign} ")?;
        shape(out, right)?;
        out.push(')');
        Ok(())
    };
    match tree {
        Shape::Leaf(condition) => write!(out, "{condition}"),
        Shape::Constant(value) => write!(out, "{value}"),
        Shape::Not(operand) => {
            out.push('!');
            shape(out, operand)
        }
        Shape::And(left, right) => infix(out, left, "&&", right),
        Shape::Or(left, right) => infix(out, left, "||", right),
        Shape::Equal(left, right) => infix(out, left, "==", right),
        Shape::Differ(left, right) => infix(out, left, "!=", right),
        Shape::Ternary(condition, then, otherwise) => {
            out.push('(');
            shape(out, condition)?;
            out.push_str(" ? ");
            shape(out, then)?;
            out.push_str(" : ");
            shape(out, otherwise)?;
            out.push(')');
            Ok(())
        }
    }
}

fn function(out: &mut String, id: FunctionId, function: &Function) -> Result {
    if function.is_defined() {
        out.push('\n');
    }
    write!(out, "function {id} ")?;
    quote(out, &function.name);
    write!(out, " {} (", function.linkage)?;
    for (number, ty) in function.parameters.iter().enumerate() {
        write!(out, "{}{ty}", if number == 0 { "" } else { ", " })?;
    }
    if function.variadic {
        out.push_str(if function.parameters.is_empty() { "..." } else { ", ..." });
    }
    write!(out, ") -> {}", function.result)?;
    for (holds, word) in [
        (function.no_return, " no_return"),
        (function.returns_twice, " returns_twice"),
        (function.generated, " generated"),
    ] {
        if holds {
            out.push_str(word);
        }
    }
    print_code::at(out, function.span)?;
    print_code::body(out, function)
}

fn quoted_line(out: &mut String, text: &str) {
    out.push(' ');
    quote(out, text);
    out.push('\n');
}

/// Text in quotes; only what would break the line or the quotes is escaped.
pub(super) fn quote(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            control if control.is_ascii_control() => out.push_str(&format!("\\x{:02x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
}

/// Bytes in quotes; everything but printable ASCII is escaped.
fn quote_bytes(out: &mut String, bytes: &[u8]) {
    out.push('"');
    for &byte in bytes {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b' '..=b'~' => out.push(char::from(byte)),
            other => out.push_str(&format!("\\x{other:02x}")),
        }
    }
    out.push('"');
}

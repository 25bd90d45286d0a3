//! `<stdio.h>` as far as it writes to standard output and standard error, or to memory.

use super::super::FaultKind;
use super::super::machine::{Argument, Machine};
use super::super::memory::{Checked, Stop};
use super::format::format;
use super::{Native, int, one, signed, word};

pub(super) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "printf" => |machine, arguments| {
            let text = format(machine, arguments, 0)?;
            write(machine, Stream::Output, &text)?;
            one(text.len() as u64)
        },
        "fprintf" => |machine, arguments| {
            let stream = stream(machine, word(arguments, 0)?)?;
            let text = format(machine, arguments, 1)?;
            write(machine, stream, &text)?;
            one(text.len() as u64)
        },
        "sprintf" => |machine, arguments| {
            let text = format(machine, arguments, 1)?;
            print_to(machine, word(arguments, 0)?, u64::MAX, &text)
        },
        "snprintf" => |machine, arguments| {
            let text = format(machine, arguments, 2)?;
            print_to(machine, word(arguments, 0)?, word(arguments, 1)?, &text)
        },
        "puts" => |machine, arguments| {
            let mut text = machine.memory.string(word(arguments, 0)?)?;
            text.push(b'\n');
            write(machine, Stream::Output, &text)?;
            one(text.len() as u64)
        },
        "putchar" => |machine, arguments| put_character(machine, arguments, Stream::Output),
        "fputc" | "putc" | "_IO_putc" => |machine, arguments| {
            let stream = stream(machine, word(arguments, 1)?)?;
            put_character(machine, arguments, stream)
        },
        "fputs" => |machine, arguments| {
            let text = machine.memory.string(word(arguments, 0)?)?;
            let stream = stream(machine, word(arguments, 1)?)?;
            write(machine, stream, &text)?;
            one(1)
        },
        "fwrite" => |machine, arguments| {
            let (size, count) = (word(arguments, 1)?, word(arguments, 2)?);
            let length = size.checked_mul(count).ok_or(FaultKind::InvalidAccess)?;
            let bytes = machine.memory.bytes(word(arguments, 0)?, length)?.to_vec();
            let stream = stream(machine, word(arguments, 3)?)?;
            write(machine, stream, &bytes)?;
            one(if length == 0 { 0 } else { count })
        },
        "fflush" => |_, _| one(0),
        _ => return None,
    })
}

#[derive(Clone, Copy)]
enum Stream {
    Output,
    Error,
}

fn stream(machine: &Machine<'_>, address: u64) -> Checked<Stream> {
    let [_, output, error] = machine.prepared.streams;
    if address == output {
        Ok(Stream::Output)
    } else if address == error {
        Ok(Stream::Error)
    } else {
        Err(Stop::Unsupported("a stream other than standard output and standard error".into()))
    }
}

fn write(machine: &mut Machine<'_>, stream: Stream, bytes: &[u8]) -> Checked<()> {
    let kept = match stream {
        Stream::Output => &mut machine.output,
        Stream::Error => &mut machine.errors,
    };
    kept.extend_from_slice(bytes);
    if kept.len() as u64 > machine.limits.memory { Err(FaultKind::OutOfMemory.into()) } else { Ok(()) }
}

fn put_character(machine: &mut Machine<'_>, arguments: &[Argument], stream: Stream) -> Checked<[u128; 2]> {
    let byte = int(arguments, 0)? as u8;
    write(machine, stream, &[byte])?;
    one(byte.into())
}

fn print_to(machine: &mut Machine<'_>, to: u64, room: u64, text: &[u8]) -> Checked<[u128; 2]> {
    if room > 0 {
        let kept = &text[..text.len().min(usize::try_from(room - 1).unwrap_or(usize::MAX))];
        let place = machine.memory.bytes_mut(to, kept.len() as u64 + 1)?;
        place[..kept.len()].copy_from_slice(kept);
        place[kept.len()] = 0;
    }
    signed(text.len() as i64)
}

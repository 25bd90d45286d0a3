//! C that is part of this program: the runtime, the models of library functions, what compilers are helped with, and how they are compiled.
//!
//! The build of this crate compiles it, too, for its own machine, so this file stands for itself.

use std::io;
use std::path::Path;
use std::process::Command;

/// C sources that are part of this program, and how they are compiled.
#[derive(Clone, Copy, Debug)]
pub struct Embedded {
    /// What they are together: the kind of the entry that has the code.
    pub name: &'static str,
    /// Names and texts; the first includes the others.
    pub sources: &'static [(&'static str, &'static str)],
    pub flags: &'static [&'static str],
}

impl Embedded {
    /// What compiles them, with the sources in `directory`.
    pub fn compiler(
        &self,
        clang: &str,
        target_flags: &[String],
        directory: &Path,
        output: &Path,
    ) -> io::Result<Command> {
        for (name, text) in self.sources {
            std::fs::write(directory.join(name), text)?;
        }
        let (first, _) = self.sources[0];
        let mut command = Command::new(clang);
        command.current_dir(directory).args(self.flags).args(target_flags).args([first, "-o"]).arg(output);
        if target_flags.iter().any(|flag| flag == "-m32") {
            // numbers are rounded here like those that are followed
            command.arg("-msse2");
        }
        Ok(command)
    }
}

pub const RUNTIME: Embedded = Embedded { name: "runtime", sources: SOURCES, flags: FLAGS };

const SOURCES: &[(&str, &str)] = &[
    ("quarry.c", include_str!("../../../runtime/quarry.c")),
    ("quarry.h", include_str!("../../../runtime/quarry.h")),
    ("quarry_wire.h", include_str!("../../../runtime/quarry_wire.h")),
    ("log.c", include_str!("../../../runtime/log.c")),
    ("nodes.c", include_str!("../../../runtime/nodes.c")),
    ("arithmetic.c", include_str!("../../../runtime/arithmetic.c")),
    ("floats.c", include_str!("../../../runtime/floats.c")),
    ("memory.c", include_str!("../../../runtime/memory.c")),
    ("extents.c", include_str!("../../../runtime/extents.c")),
    ("ranges.c", include_str!("../../../runtime/ranges.c")),
    ("access.c", include_str!("../../../runtime/access.c")),
    ("strings.c", include_str!("../../../runtime/strings.c")),
    ("numbers.c", include_str!("../../../runtime/numbers.c")),
    ("calls.c", include_str!("../../../runtime/calls.c")),
    ("unfollowed.c", include_str!("../../../runtime/unfollowed.c")),
    ("input.c", include_str!("../../../runtime/input.c")),
    ("objects.c", include_str!("../../../runtime/objects.c")),
    ("sandbox.c", include_str!("../../../runtime/sandbox.c")),
    ("tries.c", include_str!("../../../runtime/tries.c")),
    ("reuse.c", include_str!("../../../runtime/reuse.c")),
    ("server.c", include_str!("../../../runtime/server.c")),
    ("program.c", include_str!("../../../runtime/program.c")),
    ("program.h", include_str!("../../../runtime/library/program.h")),
];

const FLAGS: &[&str] = &[
    "-O2",
    "-std=gnu11",
    "-w",
    "-fno-builtin",
    "-fno-stack-protector",
    "-fno-strict-aliasing",
    "-fno-pic",
    "-emit-llvm",
    "-c",
];

pub const MODELS: Embedded = Embedded {
    name: "library",
    sources: &[
        ("library.c", include_str!("../../../runtime/library/library.c")),
        ("library.h", include_str!("../../../runtime/library/library.h")),
        ("program.h", include_str!("../../../runtime/library/program.h")),
        ("ctype.c", include_str!("../../../runtime/library/ctype.c")),
        ("strings.c", include_str!("../../../runtime/library/strings.c")),
        ("search.c", include_str!("../../../runtime/library/search.c")),
        ("numbers.c", include_str!("../../../runtime/library/numbers.c")),
        ("floats.c", include_str!("../../../runtime/library/floats.c")),
        ("environment.c", include_str!("../../../runtime/library/environment.c")),
        ("streams.c", include_str!("../../../runtime/library/streams.c")),
        ("scan.c", include_str!("../../../runtime/library/scan.c")),
        ("options.c", include_str!("../../../runtime/library/options.c")),
        ("print.c", include_str!("../../../runtime/library/print.c")),
        ("sorting.c", include_str!("../../../runtime/library/sorting.c")),
        ("terms.c", include_str!("../../../runtime/library/terms.c")),
    ],
    // Like the user's code: every branch as written. Without debug information: nobody asks for positions in it.
    flags: &[
        "-O0",
        "-Xclang",
        "-disable-O0-optnone",
        "-Xclang",
        "-disable-llvm-passes",
        "-std=gnu11",
        "-w",
        "-fno-builtin",
        "-fno-stack-protector",
        "-fwrapv",
        "-fno-strict-aliasing",
        "-fno-delete-null-pointer-checks",
        "-ffp-contract=off",
        "-emit-llvm",
        "-c",
    ],
};

/// A library for a compiler that writes a lot.
pub const BUFFERED: Embedded = Embedded {
    name: "buffered",
    sources: &[("buffered.c", include_str!("preprocess/buffered.c"))],
    flags: &["-O1", "-shared", "-fPIC", "-w"],
};

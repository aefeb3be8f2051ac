// Copies Google's conformance runner, the first argument, to the second, and lets the copy start where glibc is older than 2.38: the
// versions that it was linked with become weak, which the loader only warns of. newer_libc.cc has the functions.
import { readFileSync, writeFileSync } from "node:fs";

const VER_FLG_WEAK = 2;

/** The hash of a name that ELF has in its version requirements (Elf64_Vernaux). */
function hash(name) {
    let h = 0n;
    for (const byte of Buffer.from(name)) {
        h = (h << 4n) + BigInt(byte);
        const high = h & 0xf0000000n;
        h = (h ^ (high >> 24n)) & ~high;
    }
    return Number(h);
}

const [from, to] = process.argv.slice(2);
const program = readFileSync(from);
for (const version of ["GLIBC_2.38", "GLIBCXX_3.4.32"]) {
    // Its hash, and 16 bits of flags, none of them set.
    const requirement = Buffer.alloc(6);
    requirement.writeUInt32LE(hash(version));
    const at = program.indexOf(requirement);
    if (at < 0 || program.indexOf(requirement, at + 1) >= 0) throw new Error(`${from} does not require ${version} once`);
    program.writeUInt16LE(VER_FLG_WEAK, at + 4);
}
writeFileSync(to, program, { mode: 0o755 });

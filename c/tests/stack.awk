# Computes worst cases from frames and calls; see stack.sh. A static function is identified as FILE:NAME, any other by its name.

function full_name(name) { return (file ":" name) in static ? file ":" name : name }

# The functions that a call through a pointer may reach.
function pointer_targets(from,    name, found) {
    if (file_of[from] ~ /^dn_(bind|store|wide_store)/) {
        for (name in frame) if (name ~ /^dn_store_/) found = found " " name
    } else if (file_of[from] ~ /^dn_(read|wide_read)/) found = " dn_strict:is_canonical"
    else if (file_of[from] == "dn_write") found = " dn_sink:spill"
    return found # all other pointers lead to callbacks of the user, which are not counted
}

# The worst-case stack of `name` and its callees. `path` lists its callers.
function worst(name, path,    list, n, i, to, depth, most) {
    if (!(name in frame)) { # a function of the compiler or the C library
        if (name != "") external[name] = 1
        return 0
    }
    split("", list)
    n = split(calls[name] (name in calls_pointer ? pointer_targets(name) : ""), list, " ")
    path = path " " name " "
    most = 0
    for (i = 1; i <= n; i++) {
        to = list[i]
        if (to == "dn_sink:spill" && index(path, " " to " ")) {
            # For a block, the sink calls itself for room once, and not deeper.
            depth = frame[to] + (("dn_sink:flush" in frame) ? worst("dn_sink:flush", path) : 0)
            if (depth > most) most = depth
            continue
        }
        if (index(path, " " to " ") && !index(path, " dn_sink:spill ")) {
            # Tables in tables: the caller determines the depth.
            if (to == "dn_read_struct_by" || to ~ /^dn_store_/) continue
            if (!((name, to) in reported)) print "recursion:" path to
            reported[name, to] = failed = 1
            continue
        }
        depth = worst(to, path)
        if ((name, to) in tail) depth -= frame[name]
        if (depth > most) most = depth
    }
    return frame[name] + most
}

$1 == "file" { file = $2; next }
# The symbol table: static functions are "l".
/ l +F / { static[file ":" $NF] = 1; next }
# PATH:LINE:COLUMN:NAME <tab> BYTES <tab> static|dynamic
/^[^ ]+:[0-9]+:[0-9]+:/ {
    n = split($1, part, ":")
    name = part[n]
    if ((file ":" name) in static) name = file ":" name
    frame[name] = $2
    file_of[name] = file
    if ($3 != "static") { print "frame without a constant size: " name; failed = 1 }
    next
}
/^[0-9a-f]+ <.*>:$/ {
    name = $2
    gsub(/[<>:]/, "", name)
    here = full_name(name)
    # The compiler reports no frame for a function in assembly: count its pushes and the return address.
    naked = !(here in frame)
    if (naked) {
        frame[here] = 2
        file_of[here] = file
    }
    next
}
# The relocation after a call or a jump.
$2 ~ /^R_/ {
    to = $3
    sub(/^\.text\./, "", to)
    sub(/[+-]0x[0-9a-f]+$/, "", to)
    if (mnemonic ~ /^(call|rcall|bl|blx|jal|jalr)$/ || (mnemonic ~ /^(jmp|rjmp|b|b\.[nw]|j)$/ && full_name(to) != here && ($3 !~ /[+]0x/ || $2 ~ /THM/))) {
        if (full_name(to) != here || $3 !~ /[+]/) {
            calls[here] = calls[here] " " (full_name(to))
            if (mnemonic ~ /^(jmp|rjmp|b|b\.[nw]|j)$/) tail[here, full_name(to)] = 1
        }
    }
    next
}
/^ +[0-9a-f]+:/ {
    split($0, column, "\t")
    mnemonic = column[3]
    sub(/ .*/, "", mnemonic)
    operand = column[4]
    if (naked && mnemonic == "push") frame[here]++
    if (mnemonic ~ /^(icall|eicall)$/ || (mnemonic ~ /^(blx|bx)$/ && operand ~ /^(r|ip)/)) calls_pointer[here] = 1
}

END {
    print title
    print ""
    for (name in frame) if (name !~ /:/ && name !~ /^dn__/) print sprintf("%-24s %5d  %5d", name, frame[name], worst(name, " ")) | "sort"
    close("sort")
    print ""
    print "bytes of the function itself, and with all functions that it calls; each level of nested tables adds"
    print frame["dn_read_struct_by"] + frame["dn_store_array"] + frame["dn_store_struct"] " bytes to dn_bind"
    print "write functions are counted with a sink; with a plain buffer they take less"
    list = ""
    for (name in external) list = list " " name
    print "not counted: your callbacks, and" list
    exit failed
}

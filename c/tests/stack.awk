# Computes worst cases from frames and calls; see stack.sh. A static function is identified as FILE:NAME, any other by its name.

function full(name) { return (file ":" name) in static ? file ":" name : name }

# The functions that a call through a pointer may reach.
function pointed(from,    name, found) {
    if (home[from] ~ /^dn_(bind|store|wide_store)/) {
        for (name in frame) if (name ~ /^dn_store_/) found = found " " name
    } else if (home[from] ~ /^dn_(read|wide_read)/) found = " dn_strict:is_canonical"
    else if (home[from] == "dn_write") found = " dn_sink:spill"
    return found # any other is a function of the caller, which is not counted
}

# The worst-case stack of `name` and its callees. `way` lists its callers.
function worst(name, way,    list, n, i, to, deep, most) {
    if (!(name in frame)) { # a function of the compiler or the C library
        if (name != "") outside[name] = 1
        return 0
    }
    split("", list)
    n = split(calls[name] (name in through ? pointed(name) : ""), list, " ")
    way = way " " name " "
    most = 0
    for (i = 1; i <= n; i++) {
        to = list[i]
        if (to == "dn_sink:spill" && index(way, " " to " ")) {
            # For a block, the sink calls itself for room once, and not deeper.
            deep = frame[to] + (("dn_sink:flush" in frame) ? worst("dn_sink:flush", way) : 0)
            if (deep > most) most = deep
            continue
        }
        if (index(way, " " to " ") && !index(way, " dn_sink:spill ")) {
            # Tables in tables: the caller determines the depth.
            if (to == "dn_read_struct_by" || to ~ /^dn_store_/) continue
            if (!((name, to) in told)) print "recursion:" way to
            told[name, to] = failed = 1
            continue
        }
        deep = worst(to, way)
        if ((name, to) in tail) deep -= frame[name]
        if (deep > most) most = deep
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
    home[name] = file
    if ($3 != "static") { print "frame of no constant size: " name; failed = 1 }
    next
}
/^[0-9a-f]+ <.*>:$/ {
    name = $2
    gsub(/[<>:]/, "", name)
    here = full(name)
    # The compiler reports no frame for a function in assembly: count its pushes and the return address.
    naked = !(here in frame)
    if (naked) {
        frame[here] = 2
        home[here] = file
    }
    next
}
# The relocation after a call or a jump.
$2 ~ /^R_/ {
    to = $3
    sub(/^\.text\./, "", to)
    sub(/[+-]0x[0-9a-f]+$/, "", to)
    if (mnemonic ~ /^(call|rcall|bl|blx|jal|jalr)$/ || (mnemonic ~ /^(jmp|rjmp|b|b\.[nw]|j)$/ && full(to) != here && ($3 !~ /[+]0x/ || $2 ~ /THM/))) {
        if (full(to) != here || $3 !~ /[+]/) {
            calls[here] = calls[here] " " (full(to))
            if (mnemonic ~ /^(jmp|rjmp|b|b\.[nw]|j)$/) tail[here, full(to)] = 1
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
    if (mnemonic ~ /^(icall|eicall)$/ || (mnemonic ~ /^(blx|bx)$/ && operand ~ /^(r|ip)/)) through[here] = 1
}

END {
    print title
    print ""
    for (name in frame) if (name !~ /:/ && name !~ /^dn__/) print sprintf("%-24s %5d  %5d", name, frame[name], worst(name, " ")) | "sort"
    close("sort")
    print ""
    print "bytes: the function's own, and with all that it calls; for dn_bind's tables within tables, add"
    print frame["dn_read_struct_by"] + frame["dn_store_array"] + frame["dn_store_struct"] " for each of them"
    print "what writes is counted with a sink; into a plain buffer it takes less"
    list = ""
    for (name in outside) list = list " " name
    print "not counted: functions of yours that are called," list
    exit failed
}

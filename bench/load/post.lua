-- wrk script: posts the messages of the file BODIES in turn, each thread from another place on, and prints one line of JSON
-- at the end.

local requests, next_request = {}, 0
local threads = 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

function init(args)
  local headers = { ["Content-Type"] = os.getenv("CONTENT_TYPE") }
  for line in io.lines(os.getenv("BODIES")) do
    local device, digits = line:match("^(%S+) (%x+)$")
    local body = digits:gsub("%x%x", function(byte) return string.char(tonumber(byte, 16)) end)
    requests[#requests + 1] = wrk.format("POST", "/ingest/" .. device, headers, body)
  end
  next_request = math.floor(#requests / 2) * number
  -- wrk asks the first thread for a request that it does not send.
  if number == 0 then
    next_request = -1
  end
end

function request()
  next_request = next_request % #requests + 1
  return requests[next_request]
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"microseconds":%d,"mean_us":%d,"p95_us":%d,"bad_status":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency.mean, latency:percentile(95), errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end

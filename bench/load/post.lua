-- wrk script: posts the messages of the file BODIES in turn, each thread from another place on, and prints one line of JSON
-- at the end.
--
-- The first thread sends while wrk prepares the second one, which wrk's time does not include. So the requests are made
-- with few steps, whose number does not depend on the lengths of the bodies.

local requests, next_request = {}, 0
local threads = 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

function init(args)
  local head = " HTTP/1.1\r\nHost: " .. wrk.headers["Host"] .. "\r\nContent-Type: " .. os.getenv("CONTENT_TYPE")
    .. "\r\nContent-Length: "
  local file = io.open(os.getenv("BODIES"), "rb")
  local messages, at = file:read("*a"), 1
  file:close()
  while at <= #messages do
    local _, last, device, length = messages:find("^(%S+) (%d+)\n", at)
    at = last + 1 + length
    requests[#requests + 1] = "POST /ingest/" .. device .. head .. length .. "\r\n\r\n" .. messages:sub(last + 1, at - 1)
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

-- wrk script: posts the file BODY to 50 devices in turn, and prints one line of JSON at the end.

local requests, next_request = {}, 0

function init(args)
  local file = assert(io.open(os.getenv("BODY"), "rb"))
  local body = file:read("*a")
  file:close()
  local headers = { ["Content-Type"] = os.getenv("CONTENT_TYPE") }
  for device = 1, 50 do
    requests[device] = wrk.format("POST", "/ingest/device" .. device, headers, body)
  end
end

function request()
  next_request = next_request % 50 + 1
  return requests[next_request]
end

function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"microseconds":%d,"p95_us":%d,"bad_status":%d,"broken":%d}\n',
    summary.requests, summary.duration, latency:percentile(95), errors.status,
    errors.connect + errors.read + errors.write + errors.timeout))
end

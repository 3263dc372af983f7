-- KEYS: jobs that are over and not cleared up after. ARGV: how many to give; ms for which those are
-- given to nobody else. Returns jobs, those that have waited longest first.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local jobs = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
for _, job in ipairs(jobs) do redis.call('ZADD', KEYS[1], now + ARGV[2], job) end
return jobs

-- KEYS: the workers. ARGV: name, time to live in ms, facts. Forgets those that have gone.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], string.format('%d %d %s', now, now + ARGV[2], ARGV[3]))
local all = redis.call('HGETALL', KEYS[1])
for at = 1, #all, 2 do
  if tonumber(string.match(all[at + 1], '^%d+ (%d+) ')) <= now then
    redis.call('HDEL', KEYS[1], all[at])
  end
end
return 1

-- KEYS: who fills the archive. ARGV: name, lease in ms; 0 gives it up.
-- Returns 2 to one who begins to be in charge, 1 to one who still is, 0 to one who is not.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then
  redis.call('DEL', KEYS[1])
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return holder and 1 or 2

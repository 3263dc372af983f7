-- The archive has a job up to a record and an event: the log may be shorter. ARGV: their numbers;
-- records that are kept for those who read along; ms until a job that is over may be forgotten.
-- Returns 1 once there is nothing more to record.
local seq, events, margin, keep = tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5], ARGV[6]
local state = field('state')
if not state then return 1 end -- it was deleted
if seq > tonumber(margin) then
  redis.call('XTRIM', RECORDS, 'MINID', string.format('%d-0', seq - margin + 1))
end
if tonumber(field('seq')) > seq or tonumber(field('events')) > events then return 0 end
redis.call('SREM', UNRECORDED, ID)
if state == 'succeeded' or state == 'failed' or state == 'canceled' then
  redis.call('ZADD', ARCHIVED, 'NX', NOW_MS + keep, ID)
end
return 1

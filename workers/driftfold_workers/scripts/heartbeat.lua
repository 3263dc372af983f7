-- ARGV: epoch, lease in ms.
if fenced(ARGV[3]) then return 'lost' end
redis.call('ZADD', LEASE, NOW_MS + ARGV[4], ID)
set('lease', ARGV[4])
if field('state') == 'canceling' then return 'cancel' end
return field('pausing') and 'pause' or 'ok'

-- A wait ends by its queue when the clock was set back; nothing looks at deferred deliveries of all queues any more.
drop index deliveries_deferred;

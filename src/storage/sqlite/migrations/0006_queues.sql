-- Mail waits by destination and organization (model/delivery.ts, queueOf). What waits already keeps a queue by destination alone.
alter table deliveries rename column destination to queue;

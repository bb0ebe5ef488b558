-- Canaries are read by mailbox.
drop index canaries_sought;

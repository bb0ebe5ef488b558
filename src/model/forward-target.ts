/** Whether the owner of an address elsewhere wants what an organization's forward routes send on. `stopped`: said no, and is
 *  not asked again. */
export type ForwardTargetStatus = 'pending' | 'confirmed' | 'stopped'

/** What came of asking. `too_many`: so many confirmation mails went out today that this one did not. */
export type AskResult = 'asked' | 'too_many' | Exclude<ForwardTargetStatus, 'pending'>

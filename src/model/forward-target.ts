/** Whether the owner of an external address accepts mail from an organization's forward routes. `stopped`: the owner
 *  declined and is not asked again. */
export type ForwardTargetStatus = 'pending' | 'confirmed' | 'stopped'

/** Result of a request for confirmation. `too_many`: the daily limit of confirmation mails was reached, so none was
 *  sent. */
export type AskResult = 'asked' | 'too_many' | Exclude<ForwardTargetStatus, 'pending'>

/** One program's text form of a bounce. Patterns see LF line ends; those for a line are anchored, so that quoted text
 *  (`> …`) does not match. */
export interface Form {
  name: string
  /** The sentence that identifies the form. */
  opening: RegExp
  /** The subject, where the sentence alone is not enough. */
  subject?: RegExp
  /** Recipients follow behind this; absent: behind `opening`. */
  from?: RegExp
  /** Recipients end before this, and always before END. */
  until?: RegExp
  /** A line that starts with a recipient: the first or third group contains the address, if any (the caller searches
   *  the `@`), the second the line's text about it. */
  recipient: RegExp
  /** First group: the part of a recipient's text that is the reply. */
  reply?: RegExp
  /** Where the reply ends within that group; if it does not match, there is no reply. */
  replyEnd?: RegExp
  /** A line elsewhere about the recipient in the first group, for recipients without text. */
  aside?: RegExp
  /** The server will retry. Searched in the subject and the text, not in the copy of the mail. */
  delayed?: RegExp
  /** First group: the reporting host. */
  host?: RegExp
}

/** Where the copy of the mail starts, for all programs that add one to the text. */
export const END =
  /^(?:-{2,} ?(?:Below this line|This is a copy|Original message|Forwarded message|The body of|Enclosed|Undelivered message|Message header|The header|The following is a copy)|_{20,}|Received: |Return-Path: )/im

// Neither pattern matches the `@`: two runs around it would be tried at every `@` of a line. firstAddress finds it.
const IN_BRACKETS = /^<([^<>\s]+)>:?(.*)$/
const BARE = /^[ \t]{0,12}<?([^<>\s:;,()]+)>?:?[ \t]*$/
const WILL_RETRY =
  /\b(?:will (?:be retried|keep trying|continue (?:to try|for)|be attempted again|retry)|(?:delivery|attempts?) (?:to deliver the message )?will (?:be retried|continue)|warning message only|warning only|do not need to resend|no action is required|has not (?:yet )?been delivered|delayed)\b/i

/** In the order of matching. */
export const FORMS: readonly Form[] = [
  {
    name: 'exim',
    opening:
      /^A message that you (?:have )?sent (?:could not be delivered to|has not (?:yet )?been delivered to)\s+(?:one or\s+more|all)\s+of\s+its\s+recipients/m,
    from: /^(?:.{0,200}address\(es\) (?:failed|ha(?:s|ve) not).*|The address(?:es)? to which.*)$/m,
    recipient: /^ {2,4}([^\s:;,()<>]+)()$/,
    delayed: /has not (?:yet )?been delivered|^Warning: message \S+ delayed/im,
  },
  {
    // QSBMF, the format of qmail and compatible servers.
    name: 'qmail',
    opening: /^Hi\. This is the\b/m,
    recipient: IN_BRACKETS,
    reply: /Remote host said: (.*?)(?:\nGiving up on |$)/s,
    host: /^Hi\. This is the (?:\S+ program|\S+(?: \S+){0,3}) at ([^\s]+?)\.?$/m,
  },
  {
    name: 'postfix',
    opening: /^This is the (?:mail system|Postfix program) at host (\S+?)\.?$/m,
    recipient: IN_BRACKETS,
    reply: /\bsaid: (.*?)(?: \(in reply to|$)/s,
    delayed: /THIS IS A WARNING ONLY|^Delayed Mail/im,
    host: /^This is the (?:mail system|Postfix program) at host (\S+?)\.?$/m,
  },
  {
    name: 'sendmail',
    opening:
      /^ {0,6}-{3,} The following addresses had (?:permanent(?: fatal)? errors|transient non-fatal errors|delivery problems|delivery errors) -{3,}/m,
    recipient: IN_BRACKETS,
    reply: /\(reason: (.*)/s,
    replyEnd: /\)$/m,
    delayed: /transient non-fatal errors|will keep trying until|^Warning: could not send message/im,
    until: /^ {0,6}-{3,} (?:Transcript of session follows|Original message follows|Message header follows)/m,
    // `550 5.1.1 <a@b.example>... User unknown`, without the code if the server will retry.
    aside: /^(?:[45]\d\d (?:[45]\.\d{1,3}\.\d{1,3} )?)?<([^<>\s]{1,320})>\.{3} .{1,1000}$/gm,
  },
  {
    name: 'gmail',
    from: /^/, // the opening may name the recipient itself
    opening:
      /^(?:\*\* (?:Address not found|Message (?:blocked|not delivered|too large|rejected)|Recipient inbox full|Delivery incomplete|Message delayed) \*\*|Delivery to the following recipients? (?:failed permanently|has been delayed):)/m,
    recipient:
      /^(?: {2,8}([^\s<>]+)()|(?:Your message wasn't delivered to|There was a (?:temporary )?problem (?:while )?delivering your message to|Your message to) <?([^\s<>]*[^\s<>.])>?(?:\.| (?:because|has been|couldn't|was)\b.*))$/,
    reply:
      /(?:The response(?: from the remote server)?(?: was)?:|The error that the other server returned was:)\s*(.*)/s,
    delayed: /has been delayed|Delivery incomplete|Message delayed|will retry/i,
  },
  {
    name: 'yahoo',
    opening: /^Sorry, we were unable to deliver your message to the following address(?:es|\(es\))?\./m,
    recipient: IN_BRACKETS,
    reply: /Remote host said: (.*)/s,
  },
  {
    name: 'amazon-ses',
    opening: /^An error occurred while trying to deliver the mail to the following recipients?:/m,
    recipient: BARE,
  },
  {
    name: 'courier',
    opening: /^Your message to the following recipients? (?:cannot be delivered|has been delayed):/m,
    recipient: IN_BRACKETS,
    reply: /<<< (.*)/s,
    delayed: /recipients? has been delayed:/i,
    host: /^This is a delivery status notification from ([^\s,]+)/m,
  },
  {
    name: 'exchange',
    opening:
      /^(?:Delivery (?:has failed|is delayed) to these recipients or (?:groups|distribution lists):|The following recipient\(s\) (?:cannot|could not) be reached:|Your message did not reach some or all of the intended recipients\.)/m,
    from: /^(?:Delivery (?:has failed|is delayed) to these recipients[^\n]*|The following recipient\(s\) (?:cannot|could not) be reached:)/m,
    until: /^(?:Original message headers:|Received: )/m,
    recipient:
      /^\s{0,12}(?:[^\n<>@]{0,100}[(<])?(?:mailto:)?([^\s<>():]+)(?:<mailto:[^>]*>)?[)>]?()(?: on .{1,60})?:?$/,
    reply: /(?:Remote Server returned '|<[^\s<]+ #)([^'>]*)/,
    delayed: /^Delivery is delayed to/m,
    host: /^Generating server: (\S+)/m,
  },
  {
    name: 'domino',
    opening: /^was not delivered to:/m,
    subject: /^DELIVERY FAILURE\b/i,
    recipient: BARE,
    reply: /because:\s*(.*)/s,
  },
  {
    // Other senders that name the recipients in a header used only by reports: any plain failure word is enough.
    name: 'x-failed-recipients',
    opening:
      /\b(?:undeliverable|delivery (?:has )?failed|(?:could not|couldn't|wasn't|was not|cannot|can't|unable to) (?:be )?deliver(?:ed)?)\b/i,
    recipient: /^(?!)/,
    reply: /(?:^|\s)([245]\d\d[ -](?:#?[245]\.\d{1,3}\.\d{1,3})? ?.*)/s,
    delayed: WILL_RETRY,
  },
]

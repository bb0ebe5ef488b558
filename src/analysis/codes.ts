import { CLIENT_FEATURES, type ClientFeature } from './client-support.ts'

/** Every finding an analysis can have. The codes are public: one is never renamed and never changes its meaning.
 *
 *  `error`: the mail will fail or be taken for fraud. `warning`: some readers or filters will mind. `info`: worth
 *  knowing. `penalty` is taken from 100 once, however often the fault occurs. Penalties and thresholds are our own
 *  judgement; no filter publishes its weights. */
export interface FindingKind {
  category: Category
  severity: Severity
  penalty: number
  /** Field of the request it is about, unless the finding names another one. */
  field: string
  /** What is wrong; a detail may follow. */
  what: string
  /** What to do. */
  advice: string
}

export type Severity = 'error' | 'warning' | 'info'
export type Category = keyof typeof CATEGORIES

/** Category → most that its findings together take from the score. */
export const CATEGORIES = {
  authentication: 40,
  addresses: 30,
  subject: 25,
  content: 40,
  variables: 40,
  html: 30,
  size: 20,
  images: 30,
  links: 50,
  active: 40,
  clients: 10,
  attachments: 30,
}

const OWN_KINDS = {
  ...kinds('authentication', 'from', {
    auth_domain_unverified: error(
      25,
      'The domain is not verified',
      'Publish its DNS records and verify it; until then its mail is not signed with a key that receivers can find.',
    ),
    auth_dkim_missing: error(
      30,
      'A DKIM record of the domain is missing',
      'Publish it as the domain page shows it and verify the domain.',
    ),
    auth_dkim_mismatch: error(
      30,
      'A DKIM record of the domain says something else than our key',
      'Replace it by the one the domain page shows; signatures fail until then.',
    ),
    auth_spf_missing: warning(
      10,
      'The SPF record of the return path is missing',
      'Publish it as the domain page shows it.',
    ),
    auth_spf_mismatch: warning(
      10,
      'The SPF record of the return path does not allow this server',
      'Replace it by the one the domain page shows.',
    ),
    auth_return_path_missing: warning(
      5,
      'The MX record of the return path is missing or names another server',
      'Publish it as the domain page shows it; without it bounces are lost.',
    ),
    auth_dmarc_missing: warning(
      5,
      'The domain has no valid DMARC record',
      'Publish one, to begin with p=none; Gmail and Yahoo ask it of those who send much.',
    ),
    auth_dmarc_none: info(
      0,
      'The DMARC policy of the domain is p=none',
      'Once reports show that all your mail is signed, change it to quarantine or reject.',
    ),
    auth_not_checked: info(0, 'DNS was never asked about the records of this domain', 'Verify the domain.'),
  }),
  ...kinds('addresses', 'from', {
    from_no_reply: warning(
      3,
      'The sender address says that nobody reads answers',
      'Use an address that somebody reads, or set reply_to to one.',
    ),
    from_name_missing: info(
      1,
      'The sender has no name',
      'Write it as Name <address>; people open mail of senders they know.',
    ),
    from_name_address: error(
      15,
      'The name of the sender is another address',
      'Write a name without an address; filters take this for fraud.',
    ),
    from_name_capitals: info(1, 'The name of the sender is in capitals', 'Write it as people write names.'),
    reply_to_other_domain: warning(
      3,
      'Answers go to another domain than that of the sender',
      'Use an address of the same domain if you can.',
      'reply_to',
    ),
    reply_to_free_mail: warning(
      5,
      'Answers go to a free mailbox',
      'Use an address of your own domain; fraud often looks like this.',
      'reply_to',
    ),
    header_high_priority: info(
      1,
      'The mail says of itself that it is urgent',
      'Leave the priority out; it impresses filters more than people.',
      'headers',
    ),
  }),
  ...kinds('subject', 'subject', {
    subject_missing: error(15, 'There is no subject', 'Write one that says what the mail is about.'),
    subject_short: info(1, 'The subject is very short', 'Say in a few words what the mail is about.'),
    subject_long: info(
      1,
      'The subject is long',
      'Telephones show some 40 characters, most others 70: put what matters in front.',
    ),
    subject_capitals: warning(5, 'The subject is mostly in capitals', 'Write it in ordinary letters.'),
    subject_punctuation: warning(
      3,
      'The subject has rows of exclamation, question or money signs',
      'One of them is enough.',
    ),
    subject_spam_phrase: warning(5, 'The subject has words that unwanted mail likes', 'Say the same in plain words.'),
    subject_emoji: warning(2, 'The subject has many emoji', 'Use two at most.'),
    subject_fake_reply: warning(
      8,
      'The subject looks like an answer or a forward, and the mail is none',
      'Leave the Re: or Fwd: out.',
    ),
    subject_html: warning(5, 'The subject has HTML in it, which is shown as it stands', 'Write plain text.'),
    subject_blanks: info(1, 'The subject has rows of blanks or characters that show nothing', 'Remove them.'),
  }),
  ...kinds('content', 'html', {
    content_empty: error(20, 'The mail shows nothing: no text and no image', 'Give it content.'),
    text_missing: info(
      0,
      'There is no text part',
      'One is made from the HTML; write your own if it should read better.',
      'text',
    ),
    text_empty: warning(
      5,
      'The text part is empty, or nothing can be made of the HTML',
      'Write a text part that says what the mail says.',
      'text',
    ),
    text_html_mismatch: warning(
      8,
      'Text part and HTML say different things',
      'Write the same into both, or leave the text part to us.',
      'text',
    ),
    content_spam_phrases: warning(
      4,
      'The text has several phrases that unwanted mail likes',
      'Say the same in plain words.',
    ),
    content_capitals: warning(4, 'Most of the text is in capitals', 'Write it in ordinary letters.'),
    content_placeholder: warning(8, 'There is filler text in the mail', 'Replace it.'),
    content_hidden_text: warning(
      8,
      'The HTML hides much text',
      'Remove it; a preview line of up to 200 characters is fine.',
    ),
    content_invisible_colour: warning(
      10,
      'There is text in the colour of its background',
      'Remove it or give it another colour; filters take it for a trick.',
    ),
    unsubscribe_missing: warning(
      10,
      'This looks like mail to many, and one cannot unsubscribe',
      'Set unsubscribe to true and show a link to unsubscribe.',
      'unsubscribe',
    ),
    unsubscribe_header_missing: warning(
      4,
      'There is a link to unsubscribe, and no List-Unsubscribe header',
      'Set unsubscribe to true: mail clients then show a button of their own.',
      'unsubscribe',
    ),
    unsubscribe_link_missing: info(
      1,
      'This looks like mail to many, and only its header lets one unsubscribe',
      'Show a link as well; not every client shows the button.',
    ),
  }),
  ...kinds('variables', 'html', {
    variables_unresolved: error(
      25,
      'There are variables without a value',
      'Fill them in before sending, or use a template.',
    ),
    variables_undefined: warning(
      12,
      'There is text such as "undefined", which a missing value leaves behind',
      'Look at what fills it in.',
    ),
  }),
  ...kinds('html', 'html', {
    html_unclosed_tag: warning(5, 'Tags are never closed', 'Close them; clients guess differently where they end.'),
    html_misnested_tag: warning(3, 'Tags are closed in the wrong order', 'Close first what was opened last.'),
    html_stray_close: warning(
      3,
      'Tags are closed that are not open',
      'Remove these end tags or find where they should begin.',
    ),
    html_cut_tag: error(15, 'A tag or a quote never ends, and everything after it is lost', 'Close it with " and >.'),
    html_self_closed: warning(2, 'Tags end in /> that this does not close', 'Write an end tag.'),
    html_duplicate_attribute: warning(2, 'Tags have the same attribute twice', 'Keep one; only the first counts.'),
    html_doctype_missing: info(
      0,
      'There is no <!doctype html>',
      'Begin with it: without it some clients lay out by the rules of the nineties.',
    ),
    html_charset_missing: info(
      0,
      'The head names no character set',
      'Add <meta charset="utf-8">, for those who save or forward the mail.',
    ),
    html_lang_missing: info(
      0,
      'The HTML does not name its language',
      'Write <html lang="en">; screen readers speak by it.',
    ),
  }),
  ...kinds('size', 'html', {
    size_clipped: warning(
      8,
      'The HTML is longer than the 102 KB that Gmail shows',
      'Shorten it; what comes after is cut off, with the link to unsubscribe.',
    ),
    size_near_clip: info(
      1,
      'The HTML is near the 102 KB that Gmail shows',
      'Shorten it a little; links that are tracked get longer.',
    ),
    size_large: warning(
      5,
      'The mail is large',
      'Many servers refuse more than 10 to 25 MB: link to large files.',
      'attachments',
    ),
    size_not_read_whole: warning(
      5,
      'The HTML is so long, or has so many tags, that only its beginning was looked at',
      'Shorten it.',
    ),
  }),
  ...kinds('images', 'html', {
    image_alt_missing: warning(
      3,
      'Images have no alternative text',
      'Add alt, empty for mere decoration; many readers see no images.',
    ),
    image_only: warning(
      20,
      'The mail is all images',
      'Write the message as text: filters cannot read images, and many readers do not see them.',
    ),
    image_heavy: warning(5, 'The mail is mostly images with little text', 'Write more of it as text.'),
    image_without_source: warning(5, 'Images have no address', 'Give them one or remove them.'),
    image_relative: error(
      10,
      'Images have an address that means nothing outside your site',
      'Write it whole, with https://.',
    ),
    image_insecure: warning(2, 'Images are loaded over http', 'Use https; some clients show nothing else.'),
    image_data: warning(
      5,
      'Images stand in the HTML as data:, which Gmail and Outlook do not show',
      'Attach them with a content_id, or link to them.',
    ),
    image_cid_unknown: error(10, 'Images refer to attachments that are not there', 'Attach them with that content_id.'),
    image_size_missing: info(
      0,
      'Images have no width',
      'Add width; the page jumps while they load, and Outlook shows them in full size.',
    ),
    image_tracking_pixel: info(
      0,
      'There are images of one pixel, as trackers use them',
      'Ours is added by track_opens; more of them make filters look.',
    ),
    remote_content: info(
      0,
      'Images are loaded from the network',
      'Some clients ask first: see that the mail makes sense without them.',
    ),
  }),
  ...kinds('links', 'html', {
    link_insecure: warning(3, 'Links go over http', 'Use https.'),
    link_ip_host: error(15, 'Links name a machine by its number', 'Use a domain name; filters take numbers for fraud.'),
    link_local_host: error(10, 'Links lead to a machine that only you can reach', 'Use the public address.'),
    link_shortener: warning(
      8,
      'Links use a shortener',
      'Link to your own domain; what hides behind a shortener is held against you.',
    ),
    link_text_mismatch: error(15, 'Links show one domain and lead to another', 'Show the true one or plain words.'),
    link_look_alike: error(15, 'Links name a domain in letters that look like others', 'Use the true domain.'),
    link_credentials: error(15, 'Links carry a user name or a password', 'Remove what stands before the @.'),
    link_scheme: error(15, 'Links have a scheme that no mail client follows', 'Use https, mailto or tel.'),
    link_empty: warning(3, 'Links lead nowhere', 'Give them an address.'),
    link_relative: error(
      8,
      'Links have an address that means nothing outside your site',
      'Write it whole, with https://.',
    ),
    link_invalid: warning(5, 'Links have an address that cannot be read', 'Correct it.'),
    link_without_text: info(1, 'Links have nothing to click on', 'Give them a text, or an image with alt.'),
    link_vague_text: info(0, 'Links say only "click here"', 'Say where they lead.'),
    links_many: warning(3, 'There are very many links', 'Keep those that matter.'),
  }),
  ...kinds('active', 'html', {
    active_script: error(20, 'There is a script', 'Remove it; no client runs it and many filters refuse it.'),
    active_event_handler: error(10, 'Tags have event handlers such as onclick', 'Remove them; no client runs them.'),
    active_frame: error(10, 'There is a frame', 'Remove it and link to the page.'),
    active_object: error(10, 'There is an embedded object', 'Remove it and link to it.'),
    active_form: warning(8, 'There is a form, which most clients drop or warn of', 'Link to a page with the form.'),
    active_refresh: error(10, 'A meta refresh leads on to another page', 'Remove it.'),
    active_base: warning(
      3,
      'A <base> changes what addresses mean',
      'Remove it and write addresses whole; many clients drop it.',
    ),
  }),
  ...kinds('attachments', 'attachments', {
    attachment_blocked: error(20, 'There are attachments of a kind that most servers refuse', 'Link to the file.'),
    attachment_macros: warning(
      8,
      'There are documents that can hold macros',
      'Send them as PDF, or in the form without macros.',
    ),
    attachment_html: warning(8, 'There are HTML files attached, as fraud likes to do', 'Send a PDF or a link.'),
    attachment_archive: info(
      2,
      'There are archives attached',
      'Attach the files themselves if they are few; archives are often held back.',
    ),
  }),
} satisfies Record<string, FindingKind>

export type Code = keyof typeof OWN_KINDS | ClientCode
export type ClientCode = keyof typeof CLIENT_FEATURES

/** Code → what it means, for the answer and the documentation. */
export const FINDING_KINDS: Readonly<Record<Code, FindingKind>> = { ...OWN_KINDS, ...clientKinds() }

type Row = Omit<FindingKind, 'category' | 'field'> & { field: string | null }

function kinds<C extends string>(category: Category, field: string, rows: Record<C, Row>): Record<C, FindingKind> {
  const whole = Object.entries<Row>(rows).map(([code, row]) => [code, { ...row, category, field: row.field ?? field }])
  return Object.fromEntries(whole)
}

function error(penalty: number, what: string, advice: string, field: string | null = null): Row {
  return { severity: 'error', penalty, what, advice, field }
}

function warning(penalty: number, what: string, advice: string, field: string | null = null): Row {
  return { severity: 'warning', penalty, what, advice, field }
}

function info(penalty: number, what: string, advice: string, field: string | null = null): Row {
  return { severity: 'info', penalty, what, advice, field }
}

function clientKinds(): Record<ClientCode, FindingKind> {
  const rows = Object.entries(CLIENT_FEATURES).map(([code, row]: [string, ClientFeature]) => {
    const what = `The HTML uses ${row.feature}, which ${listed(row.droppedBy)} may not show`
    const { severity, penalty, advice } = row
    return [code, { category: 'clients', severity, penalty, field: 'html', what, advice }]
  })
  return Object.fromEntries(rows)
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

import { CLIENT_FEATURES, type ClientFeature } from './client-support.ts'

/** Every possible finding. The codes are public: they are never renamed and keep their meaning.
 *
 *  `error`: the message will fail or look like fraud. `warning`: some recipients or filters will object. `info`: worth
 *  knowing. `penalty` is subtracted from 100 once, however often the fault occurs. Penalties and thresholds are our
 *  own judgement, because filters do not publish their weights. */
export interface FindingKind {
  category: Category
  severity: Severity
  penalty: number
  /** Request field concerned, unless the finding names another. */
  field: string
  /** The problem; a detail may follow. */
  what: string
  /** How to fix it. */
  advice: string
}

export type Severity = 'error' | 'warning' | 'info'
export type Category = keyof typeof CATEGORIES

/** Category → maximum total penalty of its findings. */
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
      'The sending domain is not verified',
      'Publish its DNS records and verify it. Until then receivers cannot check its DKIM signatures.',
    ),
    auth_dkim_missing: error(
      30,
      'A DKIM record of the domain is missing',
      'Publish the record shown on the domain page and verify the domain.',
    ),
    auth_dkim_mismatch: error(
      30,
      'A DKIM record of the domain does not match our key',
      'Replace it with the record shown on the domain page. Signatures fail until then.',
    ),
    auth_spf_missing: warning(10, 'The return path has no SPF record', 'Publish the record shown on the domain page.'),
    auth_spf_mismatch: warning(
      10,
      'The SPF record of the return path does not include this server',
      'Replace it with the record shown on the domain page.',
    ),
    auth_return_path_missing: warning(
      5,
      'The MX record of the return path is missing or points to another server',
      'Publish the record shown on the domain page. Without it, bounces are lost.',
    ),
    auth_dmarc_missing: warning(
      5,
      'The domain has no valid DMARC record',
      'Publish one, initially with p=none. Gmail and Yahoo require one from bulk senders.',
    ),
    auth_dmarc_none: info(
      0,
      'The DMARC policy of the domain is p=none',
      'Change it to quarantine or reject once DMARC reports show that all your mail is signed.',
    ),
    auth_not_checked: info(0, 'The DNS records of this domain were never checked', 'Verify the domain.'),
  }),
  ...kinds('addresses', 'from', {
    from_no_reply: warning(
      3,
      'The sender is a no-reply address',
      'Use an address that people can reply to, or set reply_to.',
    ),
    from_name_missing: info(
      1,
      'The sender has no display name',
      'Write it as Name <address>. People open mail from senders they recognize.',
    ),
    from_name_address: error(
      15,
      'The display name contains a different email address',
      'Use a name without an address. Spam filters treat this as phishing.',
    ),
    from_name_capitals: info(1, 'The display name is in capitals', 'Use normal capitalization.'),
    reply_to_other_domain: warning(
      3,
      'Reply-To is at a different domain than the sender',
      'Use an address of the same domain if possible.',
      'reply_to',
    ),
    reply_to_free_mail: warning(
      5,
      'Reply-To is at a free mail provider',
      'Use an address of your own domain. Phishing often looks like this.',
      'reply_to',
    ),
    header_high_priority: info(
      1,
      'The message is marked as urgent',
      'Remove the priority header. It raises spam scores and rarely gets more attention.',
      'headers',
    ),
  }),
  ...kinds('subject', 'subject', {
    subject_missing: error(15, 'The subject is missing', 'Write a subject that describes the message.'),
    subject_short: info(1, 'The subject is very short', 'Describe the message in a few words.'),
    subject_long: info(
      1,
      'The subject is long',
      'Phones show about 40 characters, other clients about 70. Put the important words first.',
    ),
    subject_capitals: warning(5, 'The subject is mostly in capitals', 'Use normal capitalization.'),
    subject_punctuation: warning(
      3,
      'The subject repeats exclamation marks, question marks or currency signs',
      'Use one at most.',
    ),
    subject_spam_phrase: warning(
      5,
      'The subject contains phrases that are common in spam',
      'Rephrase it in plain words.',
    ),
    subject_emoji: warning(2, 'The subject has many emoji', 'Use two at most.'),
    subject_fake_reply: warning(
      8,
      'The subject starts with Re: or Fwd:, but the message is not a reply or forward',
      'Remove the Re: or Fwd:.',
    ),
    subject_html: warning(5, 'The subject contains HTML, which is displayed as text', 'Use plain text.'),
    subject_blanks: info(1, 'The subject contains repeated spaces or invisible characters', 'Remove them.'),
  }),
  ...kinds('content', 'html', {
    content_empty: error(20, 'The message is empty: it has no text and no images', 'Add content.'),
    text_missing: info(
      0,
      'The message has no text part',
      'Postrider generates one from the HTML. Write your own for full control.',
      'text',
    ),
    text_empty: warning(
      5,
      'The text part is empty, or the HTML contains no text',
      'Write a text part with the same content as the HTML.',
      'text',
    ),
    text_html_mismatch: warning(
      8,
      'The text part and the HTML differ',
      'Use the same content in both, or omit the text part so that Postrider generates it.',
      'text',
    ),
    content_spam_phrases: warning(
      4,
      'The text contains several phrases that are common in spam',
      'Rephrase them in plain words.',
    ),
    content_capitals: warning(4, 'Most of the text is in capitals', 'Use normal capitalization.'),
    content_placeholder: warning(8, 'The message contains placeholder text', 'Replace it with real content.'),
    content_hidden_text: warning(
      8,
      'The HTML hides a large amount of text',
      'Remove it. A preheader of up to 200 characters is fine.',
    ),
    content_invisible_colour: warning(
      10,
      'Text has the same colour as its background',
      'Remove it or change its colour. Spam filters treat hidden text as a trick.',
    ),
    unsubscribe_missing: warning(
      10,
      'This looks like bulk mail but has no way to unsubscribe',
      'Set unsubscribe to true and add an unsubscribe link.',
      'unsubscribe',
    ),
    unsubscribe_link_dead: error(
      20,
      'Nothing replaces the placeholder for the unsubscribe link',
      'Write %unsubscribe_url% and set unsubscribe to true. The API refuses to send such a message.',
      'unsubscribe',
    ),
    unsubscribe_header_missing: warning(
      4,
      'The message has an unsubscribe link but no List-Unsubscribe header',
      'Set unsubscribe to true. Mail clients then show their own unsubscribe button.',
      'unsubscribe',
    ),
    unsubscribe_link_missing: info(
      1,
      'This looks like bulk mail, and only its header offers a way to unsubscribe',
      'Also add a visible link. Some clients do not show the unsubscribe button.',
    ),
  }),
  ...kinds('variables', 'html', {
    variables_unresolved: error(25, 'Variables have no value', 'Provide values for them, or use a template.'),
    variables_undefined: warning(
      12,
      'The message contains text such as "undefined", left by a missing value',
      'Check the code that fills in the content.',
    ),
  }),
  ...kinds('html', 'html', {
    html_unclosed_tag: warning(5, 'Tags are not closed', 'Close them. Clients handle unclosed tags differently.'),
    html_misnested_tag: warning(3, 'Tags are closed in the wrong order', 'Close the innermost tag first.'),
    html_stray_close: warning(
      3,
      'Closing tags have no matching opening tag',
      'Remove them, or add the missing opening tags.',
    ),
    html_cut_tag: error(
      15,
      'A tag or quote is never closed, and everything after it is lost',
      'Close it with " and >.',
    ),
    html_self_closed: warning(2, 'Tags end with />, which does not close these elements', 'Add a closing tag.'),
    html_duplicate_attribute: warning(2, 'Tags have duplicate attributes', 'Keep one. Only the first is used.'),
    html_doctype_missing: info(
      0,
      'The HTML has no <!doctype html>',
      'Add it as the first line. Without it, some clients use quirks mode.',
    ),
    html_charset_missing: info(
      0,
      'The head does not declare a character set',
      'Add <meta charset="utf-8">, so that saved and forwarded copies display correctly.',
    ),
    html_lang_missing: info(
      0,
      'The HTML does not declare its language',
      'Write <html lang="en">. Screen readers use it for pronunciation.',
    ),
  }),
  ...kinds('size', 'html', {
    size_clipped: warning(
      8,
      'The HTML exceeds the 102 KB that Gmail displays',
      'Shorten it. Gmail clips the rest, including the unsubscribe link.',
    ),
    size_near_clip: info(
      1,
      'The HTML is close to the 102 KB that Gmail displays',
      'Shorten it slightly. Click tracking makes links longer.',
    ),
    size_large: warning(
      5,
      'The message is large',
      'Many servers reject messages over 10 to 25 MB. Link to large files instead.',
      'attachments',
    ),
    size_not_read_whole: warning(
      5,
      'The HTML is very long or has very many tags, so only the first part was checked',
      'Shorten it.',
    ),
  }),
  ...kinds('images', 'html', {
    image_alt_missing: warning(
      3,
      'Images have no alternative text',
      'Add alt, empty for decorative images. Many recipients do not load images.',
    ),
    image_only: warning(
      20,
      'The message consists of images only',
      'Write the content as text. Spam filters cannot read images, and many recipients do not load them.',
    ),
    image_heavy: warning(5, 'The message has many images and little text', 'Move more of the content into text.'),
    image_without_source: warning(5, 'Images have no source', 'Set src or remove them.'),
    image_relative: error(10, 'Images have a relative URL', 'Use the full URL with https://.'),
    image_insecure: warning(2, 'Images use http', 'Use https. Some clients block everything else.'),
    image_data: warning(
      5,
      'Images use data: URLs, which Gmail and Outlook do not show',
      'Attach the images with a content_id, or link to them.',
    ),
    image_cid_unknown: error(10, 'Images refer to missing attachments', 'Attach a file with this content_id.'),
    image_size_missing: info(
      0,
      'Images have no width',
      'Set the width. Otherwise the layout shifts during loading, and Outlook shows the full size.',
    ),
    image_tracking_pixel: info(
      0,
      'The message contains one-pixel images, as used for tracking',
      'Use track_opens, which adds a tracking pixel. More of them raise spam scores.',
    ),
    remote_content: info(
      0,
      'Images are loaded from the web',
      'Some clients ask before loading them. Make sure the message makes sense without images.',
    ),
  }),
  ...kinds('links', 'html', {
    link_insecure: warning(3, 'Links use http', 'Use https.'),
    link_ip_host: error(
      15,
      'Links use an IP address as host',
      'Use a domain name. Spam filters treat IP addresses as phishing.',
    ),
    link_local_host: error(10, 'Links point to a private or local host', 'Use the public URL.'),
    link_shortener: warning(
      8,
      'Links use a URL shortener',
      'Link to your own domain. All users of a shortener share its reputation.',
    ),
    link_text_mismatch: error(
      15,
      'The link text shows a different domain than the link target',
      'Show the real domain, or use plain words.',
    ),
    link_look_alike: error(15, 'Links use a domain with look-alike letters', 'Use the real domain.'),
    link_credentials: error(15, 'Links contain a user name or password', 'Remove the part before the @.'),
    link_scheme: error(15, 'Links use a scheme that mail clients do not open', 'Use https, mailto or tel.'),
    link_empty: warning(3, 'Links have no target', 'Set href.'),
    link_relative: error(8, 'Links have a relative URL', 'Use the full URL with https://.'),
    link_invalid: warning(5, 'Links have an invalid URL', 'Fix the URL.'),
    link_without_text: info(1, 'Links have no content', 'Add text, or an image with alt.'),
    link_vague_text: info(0, 'Links say only "click here"', 'Describe the target.'),
    links_many: warning(3, 'The message has a large number of links', 'Keep the important ones.'),
  }),
  ...kinds('active', 'html', {
    active_script: error(
      20,
      'The message contains a script',
      'Remove it. Mail clients do not run scripts, and many filters reject them.',
    ),
    active_event_handler: error(
      10,
      'Tags have event handlers such as onclick',
      'Remove them. Mail clients do not run them.',
    ),
    active_frame: error(10, 'The message contains a frame', 'Remove it and link to the page.'),
    active_object: error(10, 'The message contains an embedded object', 'Remove it and link to the file.'),
    active_form: warning(
      8,
      'The message contains a form, which most clients remove or warn about',
      'Link to a page with the form.',
    ),
    active_refresh: error(10, 'A meta refresh redirects to another page', 'Remove it.'),
    active_base: warning(
      3,
      'A <base> changes the meaning of relative URLs',
      'Remove it and use full URLs. Many clients remove it.',
    ),
  }),
  ...kinds('attachments', 'attachments', {
    attachment_blocked: error(20, 'Attachments have a file type that most servers reject', 'Link to the file.'),
    attachment_macros: warning(
      8,
      'Attachments are documents that can contain macros',
      'Send them as PDF, or in a format without macros.',
    ),
    attachment_html: warning(8, 'Attachments are HTML files, which are common in phishing', 'Send a PDF or a link.'),
    attachment_archive: info(
      2,
      'Attachments are archives',
      'If there are only a few files, attach them directly. Archives are often quarantined.',
    ),
  }),
} satisfies Record<string, FindingKind>

export type Code = keyof typeof OWN_KINDS | ClientCode
export type ClientCode = keyof typeof CLIENT_FEATURES

/** Code → its meaning, for the response and the documentation. */
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
    const what = `The HTML uses ${row.feature}, which ${listed(row.droppedBy)} might not show`
    const { severity, penalty, advice } = row
    return [code, { category: 'clients', severity, penalty, field: 'html', what, advice }]
  })
  return Object.fromEntries(rows)
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

import { describe, expect, test } from 'bun:test'
import { analyze } from './analyze.ts'
import { CATEGORIES, type Code, FINDING_KINDS } from './codes.ts'
import type { AnalysisInput, DomainReadiness } from './mail.ts'

const WORDS =
  'Thank you for your order. We have packed three teapots and they leave our server tomorrow morning with the first van. '
const READY: DomainReadiness = {
  status: 'verified',
  findings: [
    { purpose: 'dkim', status: 'valid', found: [], name: 'r._domainkey.shop.example.org' },
    { purpose: 'dkim', status: 'valid', found: [], name: 'e._domainkey.shop.example.org' },
    { purpose: 'return_path', status: 'valid', found: [], name: 'bounces.shop.example.org' },
    { purpose: 'spf', status: 'valid', found: [], name: 'bounces.shop.example.org' },
    { purpose: 'dmarc', status: 'valid', found: ['v=DMARC1; p=reject'], name: '_dmarc.shop.example.org' },
  ],
}
const page = (body: string, head = '') =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Tea</title>${head}</head><body>${body}</body></html>`
const IMAGE = '<img src="cid:logo" alt="Tea" width="100" height="40">'
const GOOD: AnalysisInput = {
  from: { name: 'Tea Server', local: 'orders', domain: 'shop.example.org' },
  replyTo: [],
  subject: 'Your order 1234 has left our server',
  html: page(`<p>${WORDS}</p><p><a href="https://shop.example.org/orders/1234">Your order</a></p>${IMAGE}`),
  text: `${WORDS}\n\nYour order: https://shop.example.org/orders/1234`,
  headers: [],
  attachments: [{ filename: 'logo.png', contentType: 'image/png', contentId: 'logo', sizeBytes: 900 }],
  domain: READY,
  hasUnsubscribe: false,
  sizeBytes: 4000,
}

/** The good mail with this body, without a text part, so that only the HTML counts. */
const body = (html: string, head = ''): Partial<AnalysisInput> => ({
  html: page(`<p>${WORDS}</p>${html}`, head),
  text: null,
})
const link = (href: string, text = 'Your order') => body(`<a href="${href}">${text}</a>`)
const css = (style: string) => body(`<p style="${style}">Tea</p>`)
const sheet = (style: string) => body('', `<style>${style}</style>`)
const file = (filename: string): Partial<AnalysisInput> => ({
  attachments: [
    ...GOOD.attachments,
    { filename, contentType: 'application/octet-stream', contentId: null, sizeBytes: 9 },
  ],
})
const record = (purpose: string, change: Partial<DomainReadiness['findings'][number]>, status = READY.status) => ({
  domain: {
    status,
    findings: READY.findings.map((each) => (each.purpose === purpose ? { ...each, ...change } : each)),
  },
})

const codesOf = (change: Partial<AnalysisInput>): string[] =>
  analyze({ ...GOOD, ...change })
    .issues.map(({ code }) => code)
    .toSorted()

type Case = [what: string, change: Partial<AnalysisInput>, ...codes: Code[]]
const NO_TEXT: Code = 'text_missing' // what every case made with `body` also has
const CASES: Case[] = [
  ['a good mail', {}],
  ['a mail of text alone', { html: null, attachments: [] }],

  ['a domain that was never checked', { domain: { status: 'verified', findings: [] } }, 'auth_not_checked'],
  ['a new domain', { domain: { status: 'pending', findings: [] } }, 'auth_domain_unverified', 'auth_not_checked'],
  ['a domain whose DNS did not answer', record('dkim', { status: 'pending' }, 'pending'), 'auth_domain_unverified'],
  ['a missing DKIM record', record('dkim', { status: 'missing' }, 'failed'), 'auth_dkim_missing'],
  ['a foreign DKIM record', record('dkim', { status: 'mismatch' }, 'failed'), 'auth_dkim_mismatch'],
  ['a missing SPF record', record('spf', { status: 'missing' }), 'auth_spf_missing'],
  ['a foreign SPF record', record('spf', { status: 'mismatch' }), 'auth_spf_mismatch'],
  ['a missing return path', record('return_path', { status: 'missing' }), 'auth_return_path_missing'],
  ['a missing DMARC record', record('dmarc', { status: 'missing', found: [] }), 'auth_dmarc_missing'],
  ['a DMARC record with p=none', record('dmarc', { found: ['v=DMARC1; p=none'] }), 'auth_dmarc_none'],

  ['a no-reply sender', { from: { ...GOOD.from, local: 'no-reply' } }, 'from_no_reply'],
  ['a no-reply sender with Reply-To', { from: { ...GOOD.from, local: 'noreply' }, replyTo: [GOOD.from] }],
  ['a sender without a name', { from: { ...GOOD.from, name: null } }, 'from_name_missing'],
  ['a sender with another address as name', { from: { ...GOOD.from, name: 'pay@bank.example' } }, 'from_name_address'],
  ['a sender with its address as name', { from: { ...GOOD.from, name: 'orders@shop.example.org' } }],
  ['a sender in capitals', { from: { ...GOOD.from, name: 'THE TEA HOUSE' } }, 'from_name_capitals'],
  ['Reply-To at another domain', { replyTo: [{ local: 'a', domain: 'other.org' }] }, 'reply_to_other_domain'],
  ['Reply-To at a sister domain', { replyTo: [{ local: 'a', domain: 'help.example.org' }] }],
  ['Reply-To at a free mail service', { replyTo: [{ local: 'a', domain: 'gmail.com' }] }, 'reply_to_free_mail'],
  ['a mail that is urgent', { headers: [['X-Priority', '1 (Highest)']] }, 'header_high_priority'],

  ['no subject', { subject: ' ' }, 'subject_missing'],
  ['a short subject', { subject: 'Tea' }, 'subject_short'],
  ['a long subject', { subject: 'Your order and other things that we have to say '.repeat(2).trim() }, 'subject_long'],
  ['a subject in capitals', { subject: 'YOUR TEA HAS LEFT' }, 'subject_capitals'],
  ['a subject of letters without case', { subject: 'ご注文の紅茶を発送いたしました' }],
  ['a subject with repeated punctuation', { subject: 'Your tea has left!!' }, 'subject_punctuation'],
  ['a subject with spam words', { subject: 'Tea: act now' }, 'subject_spam_phrase'],
  ['a subject with a spam word inside a word', { subject: 'The winners circle of teapots' }],
  ['a subject with emoji', { subject: 'Your tea 🫖🍵 has left 👩‍👩‍👧🚚' }, 'subject_emoji'],
  ['a subject with two emoji', { subject: 'Your tea 🫖 has left 👩‍👩‍👧' }],
  ['a subject that starts like a reply', { subject: 'Re: your order' }, 'subject_fake_reply'],
  ['an answer', { subject: 'Re: your order', headers: [['In-Reply-To', '<1@example.org>']] }],
  ['a subject with HTML', { subject: 'Tea &amp; cake' }, 'subject_html'],
  ['a subject with blanks', { subject: 'Tea      and cake' }, 'subject_blanks'],

  ['an empty mail', { html: page('<p>&nbsp;</p>'), text: null }, 'content_empty'],
  ['no text part', { text: null }, 'text_missing'],
  ['an empty text part', { text: '  ' }, 'text_empty'],
  [
    'a text part that differs from the HTML',
    { text: 'Please look at this page with another program that shows HTML.' },
    'text_html_mismatch',
  ],
  [
    'spam words',
    body('<p>Earn money and get rich without risk: risk free, no obligation!</p>'),
    NO_TEXT,
    'content_spam_phrases',
  ],
  ['capitals', { ...body(`<p>${WORDS.toUpperCase().repeat(5)}</p>`) }, NO_TEXT, 'content_capitals'],
  ['filler', body('<p>Lorem ipsum dolor</p>'), NO_TEXT, 'content_placeholder'],
  ['much hidden text', body(`<div style="display:none">${WORDS.repeat(2)}</div>`), NO_TEXT, 'content_hidden_text'],
  ['a hidden preview', body(`<div style="display:none;font-size:0">${WORDS}</div>`), NO_TEXT],
  ['text of size zero', body(`<p style="font-size:0px">${WORDS.repeat(2)}</p>`), NO_TEXT, 'content_hidden_text'],
  ['white text on white', body('<p style="color:#FFF">secret</p>'), NO_TEXT, 'content_invisible_colour'],
  [
    'white text on a coloured cell',
    body(
      '<table><tr><td bgcolor="#336"><a href="https://a.example.org/" style="color:white">Order</a></td></tr></table>',
    ),
    NO_TEXT,
  ],
  [
    'text in the colour of its cell',
    body('<table><tr><td style="background:#123456"><font color="#123456">x</font></td></tr></table>'),
    NO_TEXT,
    'content_invisible_colour',
  ],
  ['bulk mail', { subject: 'Our newsletter: new arrivals' }, 'unsubscribe_missing'],
  [
    'bulk mail with a header only',
    { subject: 'Our newsletter: new arrivals', hasUnsubscribe: true },
    'unsubscribe_link_missing',
  ],
  [
    'bulk mail with a link only',
    link('https://shop.example.org/x', 'Unsubscribe'),
    NO_TEXT,
    'unsubscribe_header_missing',
  ],
  ['bulk mail with both', { ...link('https://shop.example.org/x', 'Unsubscribe'), hasUnsubscribe: true }, NO_TEXT],
  ['a list', { headers: [['List-Id', '<tea.example.org>']] }, 'unsubscribe_missing'],

  ['a variable in the subject', { subject: 'Hello {{ first_name }}, your tea' }, 'variables_unresolved'],
  ['a variable in a link', link('https://shop.example.org/{{id}}'), NO_TEXT, 'variables_unresolved'],
  ['a tag of a template', body('{% if x %}'), NO_TEXT, 'variables_unresolved'],
  ['a variable between percent signs', body('Dear %FIRST_NAME%'), NO_TEXT, 'variables_unresolved'],
  ['a percent-encoded link', link('https://shop.example.org/%E2%82%AC'), NO_TEXT],
  ['a variable of another service', body('Dear *|FNAME|*'), NO_TEXT, 'variables_unresolved'],
  ['a variable in brackets', body('Dear [[name]]'), NO_TEXT, 'variables_unresolved'],
  ['a missing value', body('Hello undefined,'), NO_TEXT, 'variables_undefined'],
  ['a missing object', body('Order [object Object]'), NO_TEXT, 'variables_undefined'],
  ['a missing value in a link', link('https://shop.example.org/orders/undefined'), NO_TEXT, 'variables_undefined'],
  ['the German word null', body('Es kostet null Euro'), NO_TEXT],

  ['an open tag', body('<div><b>x</div>'), NO_TEXT, 'html_unclosed_tag'],
  ['crossed tags', body('<b><i>x</b></i>'), NO_TEXT, 'html_misnested_tag'],
  ['an extra end tag', body('</div>'), NO_TEXT, 'html_stray_close'],
  [
    'open paragraphs and cells, which HTML allows',
    body('<p>a<p>b<ul><li>a<li>b</ul><table><tr><td>a<td>b<tr><td>c</table>'),
    NO_TEXT,
  ],
  [
    'a tag that never ends',
    { html: `<!doctype html><p>${WORDS}</p><a href="https://shop.example.org>Order`, text: null, attachments: [] },
    NO_TEXT,
    'html_cut_tag',
  ],
  ['a tag that closes itself', body('<div/>'), NO_TEXT, 'html_self_closed'],
  ['a duplicate attribute', body('<p class="a" class="b">x</p>'), NO_TEXT, 'html_duplicate_attribute'],
  ['a fragment', { html: `<p>${WORDS}</p>` }, 'html_doctype_missing'],
  [
    'no character set',
    { html: `<!doctype html><html lang="en"><head></head><body>${WORDS}</body></html>` },
    'html_charset_missing',
  ],
  ['no language', { html: `<!doctype html><html><body>${WORDS}</body></html>` }, 'html_lang_missing'],

  ['a page that Gmail clips', body(`<p>${WORDS.repeat(950)}</p>`), NO_TEXT, 'size_clipped'],
  ['a page just below Gmail’s limit', body(`<p>${WORDS.repeat(860)}</p>`), NO_TEXT, 'size_near_clip'],
  ['a large mail', { sizeBytes: 12_000_000 }, 'size_large'],
  ['an endless page', body(`<p>${WORDS.repeat(19_000)}</p>`), NO_TEXT, 'size_clipped', 'size_not_read_whole'],

  ['an image without alt', body('<img src="cid:logo" width="9">'), NO_TEXT, 'image_alt_missing'],
  [
    'an image only',
    { html: page('<img src="cid:logo" alt="Tea" width="600" height="800">'), text: 'Tea' },
    'image_only',
  ],
  [
    'an image with little text',
    { html: page(`<p>${WORDS}</p><img src="cid:logo" alt="" width="600" height="900">`) },
    'image_heavy',
  ],
  ['an image without src', body('<img alt="" width="9">'), NO_TEXT, 'image_without_source'],
  ['a relative image', body('<img src="/logo.png" alt="" width="9">'), NO_TEXT, 'image_relative'],
  [
    'an image over http',
    body('<img src="http://a.example.org/x.png" alt="" width="9">'),
    NO_TEXT,
    'image_insecure',
    'remote_content',
  ],
  ['an image in the HTML', body('<img src="data:image/png;base64,AA==" alt="" width="9">'), NO_TEXT, 'image_data'],
  ['an image that is not attached', body('<img src="cid:nobody" alt="" width="9">'), NO_TEXT, 'image_cid_unknown'],
  ['an image without width', body('<img src="cid:logo" alt="">'), NO_TEXT, 'image_size_missing'],
  ['a pixel', body('<img src="https://t.example.org/p" width="1" height="1">'), NO_TEXT, 'image_tracking_pixel'],
  ['a remote image', body('<img src="https://a.example.org/x.png" alt="" width="9">'), NO_TEXT, 'remote_content'],

  ['a link over http', link('http://shop.example.org/'), NO_TEXT, 'link_insecure'],
  ['a link to an IP address', link('https://192.0.2.7/x'), NO_TEXT, 'link_ip_host'],
  ['a link to an encoded IP address', link('https://3221225991/x'), NO_TEXT, 'link_ip_host'],
  ['a link to localhost', link('https://localhost:3000/x'), NO_TEXT, 'link_local_host'],
  ['a short link', link('https://bit.ly/x'), NO_TEXT, 'link_shortener'],
  [
    'a link that shows another domain',
    link('https://evil.example.net/', 'www.bank.com/login'),
    NO_TEXT,
    'link_text_mismatch',
  ],
  ['a link that shows its own domain', link('https://www.bank.com/login?x=1', 'bank.com'), NO_TEXT],
  ['a link that shows a file name', link('https://shop.example.org/', 'offer.pdf'), NO_TEXT],
  ['a link in mixed letters', link('https://pаypal.com/'), NO_TEXT, 'link_look_alike'],
  ['a link with look-alike letters', link('https://xn--80ak6aa92e.com/'), NO_TEXT, 'link_look_alike'],
  ['a link to a name with an umlaut', link('https://müller.de/'), NO_TEXT],
  ['a link to a Russian name', link('https://пример.рф/'), NO_TEXT],
  ['a link with a password', link('https://bank.com:pw@shop.example.org/'), NO_TEXT, 'link_credentials'],
  ['a link to a script', link('java&#10;script:alert(1)'), NO_TEXT, 'link_scheme'],
  ['a link without a target', link('#'), NO_TEXT, 'link_empty'],
  ['a relative link', link('/orders'), NO_TEXT, 'link_relative'],
  [
    'the unsubscribe placeholder without unsubscribe',
    link('http://%25UNSUBSCRIBE_URL%25/'),
    NO_TEXT,
    'unsubscribe_header_missing',
    'unsubscribe_link_dead',
  ],
  [
    'the unsubscribe placeholder beside a header of the author',
    {
      html: null,
      text: 'Stop: %unsubscribe_url%',
      headers: [['List-Unsubscribe', '<https://shop.example.org/stop>']],
      hasUnsubscribe: true,
    },
    'unsubscribe_link_dead',
  ],
  [
    'the unsubscribe placeholder of another service',
    { html: null, text: 'Stop: %tag_unsubscribe_url%', hasUnsubscribe: true },
    'unsubscribe_link_dead',
  ],
  ['a variable of Mailgun', { html: null, text: 'Hi %recipient.first%' }, 'variables_unresolved'],
  ['the unsubscribe placeholder', { ...link('%unsubscribe_url%'), hasUnsubscribe: true }, NO_TEXT],
  ['a link that cannot be read', link('https://a b/'), NO_TEXT, 'link_invalid'],
  ['a link without text', link('https://shop.example.org/', ''), NO_TEXT, 'link_without_text'],
  ['a link around an image', link('https://shop.example.org/', IMAGE), NO_TEXT],
  ['a link with a meaningless text', link('https://shop.example.org/', 'Click here'), NO_TEXT, 'link_vague_text'],
  [
    'links to mail, telephone and a place in the page',
    body('<a href="mailto:a@b.org">mail</a> <a href="tel:1">call</a> <a href="#top">up</a> <a name="top"></a>'),
    NO_TEXT,
  ],
  ['very many links', body('<a href="https://shop.example.org/">Order</a> '.repeat(61)), NO_TEXT, 'links_many'],
  [
    'a bad link in a text mail',
    { html: null, attachments: [], text: `${WORDS} See http://192.0.2.1/x.` },
    'link_insecure',
    'link_ip_host',
  ],

  ['a script', body('<script>x</script>'), NO_TEXT, 'active_script'],
  ['an event handler', body('<p onclick="x()">y</p>'), NO_TEXT, 'active_event_handler'],
  ['a frame', body('<iframe src="https://a.example.org"></iframe>'), NO_TEXT, 'active_frame'],
  ['an object', body('<object data="x"></object>'), NO_TEXT, 'active_object'],
  ['a form', body('<form action="https://a.example.org"><input name="x"></form>'), NO_TEXT, 'active_form'],
  [
    'a refresh',
    body('', '<meta http-equiv="refresh" content="0;url=https://a.example.org">'),
    NO_TEXT,
    'active_refresh',
  ],
  ['a base', body('', '<base href="https://a.example.org">'), NO_TEXT, 'active_base'],

  ['a program', file('invoice.pdf.exe'), 'attachment_blocked'],
  ['a document with macros', file('list.XLSM'), 'attachment_macros'],
  ['a page attached', file('login.html'), 'attachment_html'],
  ['an archive', file('all.zip'), 'attachment_archive'],

  ['flexbox', css('display:flex'), NO_TEXT, 'css_flexbox'],
  ['grid', css('display: grid'), NO_TEXT, 'css_grid'],
  ['position', css('position:absolute'), NO_TEXT, 'css_position'],
  ['float', css('float:left'), NO_TEXT, 'css_float'],
  ['a background image', css("background:url('https://a.example.org/x;y.png')"), NO_TEXT, 'css_background_image'],
  ['a gradient', css('background:linear-gradient(#fff, #eee)'), NO_TEXT, 'css_gradient'],
  [
    'an external style sheet',
    body('', '<link rel="stylesheet" href="https://a.example.org/x.css">'),
    NO_TEXT,
    'css_external_stylesheet',
  ],
  ['an import', sheet('@import url("https://a.example.org/x.css");'), NO_TEXT, 'css_import'],
  ['a style in the body', body('<style>p{margin:0}</style>'), NO_TEXT, 'css_style_in_body'],
  ['a CSS variable', sheet(':root{--tea:#321}'), NO_TEXT, 'css_variables'],
  [
    'a font from the web',
    sheet('@font-face{font-family:Tea;src:url(https://a.example.org/x)}'),
    NO_TEXT,
    'css_web_font',
  ],
  ['a media query', sheet('@media (max-width: 600px) { .a { width: 100% } }'), NO_TEXT, 'css_media_query'],
  ['an @supports rule', sheet('@supports (color: red) { .a { width: 100% } }'), NO_TEXT, 'css_supports'],
  ['an animation', sheet('@keyframes a { from { left: 0 } }'), NO_TEXT, 'css_animation'],
  ['a transform', css('transform:rotate(3deg)'), NO_TEXT, 'css_transform'],
  ['a filter', css('filter:blur(1px)'), NO_TEXT, 'css_filter'],
  ['a shadow', css('box-shadow:0 0 1px #000'), NO_TEXT, 'css_shadow'],
  ['round corners', css('border-top-left-radius:3px'), NO_TEXT, 'css_border_radius'],
  ['a max-width', css('max-width:600px'), NO_TEXT, 'css_max_width'],
  ['a fitted image', css('object-fit:cover'), NO_TEXT, 'css_object_fit'],
  ['a calculation', css('width:calc(100% - 3px)'), NO_TEXT, 'css_functions'],
  ['viewport units', css('width:50vw'), NO_TEXT, 'css_viewport_units'],
  ['a modern colour syntax', css('color:oklch(40% 0.2 30)'), NO_TEXT, 'css_modern_colour'],
  ['generated content', sheet('p::before{content:"x"}'), NO_TEXT, 'css_pseudo_element'],
  ['an attribute selector', sheet('td[class="a"]{margin:0}'), NO_TEXT, 'css_attribute_selector'],
  ['a gap', css('gap:3px'), NO_TEXT, 'css_gap'],
  ['CSS in a comment', sheet('/* p{display:flex} */ p{margin:0}'), NO_TEXT],
  ['a video', body('<video src="https://a.example.org/x"></video>'), NO_TEXT, 'html_video'],
  ['a sound', body('<audio src="https://a.example.org/x"></audio>'), NO_TEXT, 'html_audio'],
  ['a drawing', body('<svg viewBox="0 0 1 1"><path d="M0 0"/></svg>'), NO_TEXT, 'html_svg'],
  [
    'an SVG image',
    body('<img src="https://a.example.org/x.svg?1" alt="" width="9">'),
    NO_TEXT,
    'html_svg_image',
    'remote_content',
  ],
  [
    'a modern image format',
    body('<img src="https://a.example.org/x.webp" alt="" width="9">'),
    NO_TEXT,
    'html_modern_image',
    'remote_content',
  ],
  ['a picture element', body(`<picture>${IMAGE}</picture>`), NO_TEXT, 'html_picture'],
  ['a canvas', body('<canvas></canvas>'), NO_TEXT, 'html_canvas'],
  ['a button', body('<button>x</button>'), NO_TEXT, 'html_button'],
  ['details', body('<details>x</details>'), NO_TEXT, 'html_details'],
  ['a formula', body('<math><mi>x</mi></math>'), NO_TEXT, 'html_math'],
  [
    'HTML for Outlook only',
    body('<!--[if mso]><table><tr><td onclick="x"><![endif]-->x<!--[if mso]></td></tr></table><![endif]-->'),
    NO_TEXT,
  ],
]

describe('findings of a mail', () => {
  for (const [what, change, ...codes] of CASES) {
    test(`${what}: ${codes.filter((code) => code !== NO_TEXT).join(', ') || 'nothing'}`, () => {
      expect(codesOf(change)).toEqual(codes.toSorted())
    })
  }

  test('every code has a case', () => {
    const reached = new Set(CASES.flatMap(([, , ...codes]) => codes))
    expect(Object.keys(FINDING_KINDS).filter((code) => !reached.has(code as Code))).toEqual([])
  })
})

/** `make(n)` has the finding from `least` on, not below. */
const FROM: [code: Code, least: number, make: (n: number) => Partial<AnalysisInput>][] = [
  ['subject_long', 79, (n) => ({ subject: `A${'a'.repeat(n - 1)}` })],
  ['subject_emoji', 3, (n) => ({ subject: `Your tea ${'🫖 '.repeat(n)}x` })],
  ['subject_capitals', 8, (n) => ({ subject: 'T'.repeat(n) })],
  ['from_name_capitals', 8, (n) => ({ from: { ...GOOD.from, name: 'T'.repeat(n) } })],
  ['content_capitals', 100, (n) => ({ html: page(`<p>${'T'.repeat(n)}</p>`), text: null })],
  ['content_spam_phrases', 3, (n) => body(['risk free', 'no catch', 'get paid'].slice(0, n).join(', '))],
  ['content_hidden_text', 201, (n) => body(`<div style="display:none">${'x'.repeat(n)}</div>`)],
  ['unsubscribe_missing', 2, (n) => body(['coupon', 'discount'].slice(0, n).join(', '))],
  ['unsubscribe_missing', 10, (n) => body(`coupon ${'<a href="https://shop.example.org/">Order</a> '.repeat(n)}`)],
  ['links_many', 61, (n) => body('<a href="https://shop.example.org/">Order</a> '.repeat(n))],
  ['size_clipped', 102 * 1024 + 1, (n) => ({ html: page('').padEnd(n) })],
  ['size_near_clip', 94_004, (n) => ({ html: page('').padEnd(n) })],
  ['size_large', 10 * 1_048_576 + 1, (n) => ({ sizeBytes: n })],
  ['image_heavy', 111, (n) => body(`<img src="cid:logo" alt="" width="1000" height="${n}">`)],
]
/** The same up to `most`. */
const UP_TO: [code: Code, most: number, make: (n: number) => Partial<AnalysisInput>][] = [
  ['subject_short', 3, (n) => ({ subject: '茶'.repeat(n) })],
  ['image_only', 19, (n) => ({ html: page(`${'x'.repeat(n)}${IMAGE}`), text: null })],
  ['image_tracking_pixel', 2, (n) => body(`<img src="https://t.example.org/p" alt="" width="${n}" height="${n}">`)],
]

describe('a threshold', () => {
  test.each(FROM)('%s is found from %d on', (code, least, make) => {
    expect([least - 1, least].map((n) => codesOf(make(n)).includes(code))).toEqual([false, true])
  })
  test.each(UP_TO)('%s is found up to %d', (code, most, make) => {
    expect([most, most + 1].map((n) => codesOf(make(n)).includes(code))).toEqual([true, false])
  })
})

test('the details, links and counts of every case are those that they were', () => {
  // A deliberate change renews the snapshot with `bun test -u`.
  const lines = CASES.flatMap(([what, change]) => {
    const { issues, links, stats, score, verdict } = analyze({ ...GOOD, ...change })
    const details = issues.map(({ code, message, field }) => {
      const { what: kind, advice } = FINDING_KINDS[code]
      return `  ${code} ${field}${message.slice(kind.length, -advice.length - 2).slice(0, 200)}`
    })
    const shown = links
      .slice(0, 3)
      .map(({ url, text, problems }) => `  ${url} "${text}" ${problems.join(' ')}`.trimEnd())
    return [`${what}: ${score} ${verdict} ${Object.values(stats).join(' ')}`, ...details, ...shown]
  })
  expect(lines.join('\n')).toMatchSnapshot()
})

test('several findings of a kind are counted, and the first ones shown', () => {
  const detail = (code: Code, change: Partial<AnalysisInput>) => {
    const { what: kind, advice } = FINDING_KINDS[code]
    const message = analyze({ ...GOOD, ...change }).issues.find((issue) => issue.code === code)?.message ?? ''
    return message.slice(kind.length, -advice.length - 2)
  }
  const files = (count: number) => ({
    attachments: Array.from({ length: count }, (_, n) => ({ ...GOOD.attachments[0]!, filename: `${n}.zip` })),
  })
  const images = (count: number) => body(`<img src="/${'a'.repeat(120)}.png" alt="" width="9">`.repeat(count))
  const links = (count: number) => body('<a href="http://shop.example.org/1">Order</a> '.repeat(count))
  expect([2, 3, 4].map((count) => detail('attachment_archive', files(count)))).toEqual([
    ': 0.zip, 1.zip',
    ': 0.zip, 1.zip, 2.zip',
    ': 0.zip, 1.zip, 2.zip and 1 more',
  ])
  expect([1, 3].map((count) => detail('image_relative', images(count)))).toEqual([
    `: /${'a'.repeat(99)}`,
    `: /${'a'.repeat(99)} and 2 more`,
  ])
  expect([1, 3].map((count) => detail('link_insecure', links(count)))).toEqual([
    ': http://shop.example.org/1',
    ': http://shop.example.org/1 and 2 more',
  ])
  const spam = 'risk free, no catch, get paid, get rich, casino, viagra'
  expect(detail('content_spam_phrases', body(spam)).split(', ')).toHaveLength(5)
  expect(detail('subject_spam_phrase', { subject: `Tea: ${spam}` }).split(', ')).toHaveLength(3)
})

test('a column layout from an email builder gets client advice only', () => {
  const html = `<!doctype html>
<html lang="en" xmlns="http://www.w3.org/1999/xhtml" xmlns:v="urn:schemas-microsoft-com:vml">
<head>
<title>Tea</title>
<!--[if !mso]><!--><meta http-equiv="X-UA-Compatible" content="IE=edge"><!--<![endif]-->
<meta http-equiv="Content-Type" content="text/html; charset=UTF-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<style type="text/css">
  #outlook a { padding:0; }
  body { margin:0; -webkit-text-size-adjust:100%; }
  .button { background-color:#223366; }
  @media only screen and (min-width:480px) { .column { width:50% !important; } }
</style>
<!--[if mso]><xml><o:OfficeDocumentSettings><o:AllowPNG/></o:OfficeDocumentSettings></xml><![endif]-->
</head>
<body style="word-spacing:normal;background-color:#f4f4f4;">
<div style="display:none;font-size:1px;color:#f4f4f4;max-height:0;overflow:hidden;">Three teapots leave our server</div>
<div style="background-color:#f4f4f4;">
<!--[if mso | IE]><table align="center" width="600"><tr><td><![endif]-->
<table align="center" border="0" role="presentation" style="width:100%;"><tbody><tr>
<td style="direction:ltr;font-size:0px;padding:20px 0;text-align:center;">
<!--[if mso | IE]><table><tr><td style="width:300px;"><![endif]-->
<div class="column" style="font-size:0px;display:inline-block;width:100%;">
<div style="font-family:Arial;font-size:14px;line-height:1.5;color:#000000;"><p>${WORDS}</p></div>
<table role="presentation"><tr><td class="button" valign="middle"><a href="https://shop.example.org/" style="color:#ffffff;font-size:13px;">Your order</a></td></tr></table>
<p style="border-top:solid 1px #ddd;font-size:1px;margin:0 auto;width:100%;">&nbsp;</p>
<img src="cid:logo" alt="" width="100" height="40" style="border:0;display:block;outline:none;" />
</div>
<!--[if mso | IE]></td></tr></table><![endif]-->
</td></tr></tbody></table>
<!--[if mso | IE]></td></tr></table><![endif]-->
</div>
</body>
</html>`
  const { score, issues } = analyze({ ...GOOD, html })
  expect(issues.map(({ code }) => code)).toEqual(['css_media_query'])
  expect(score).toBe(100)
})

describe('the score', () => {
  test('of a good mail is 100', () => expect(analyze(GOOD)).toMatchObject({ score: 100, verdict: 'good', issues: [] }))

  test('is 100 minus the penalties, each code counted once', () => {
    const { score, verdict, issues } = analyze({ ...GOOD, ...body('<p onclick="x">a</p><p onclick="y">b</p></div>') })
    expect(issues.map(({ penalty }) => penalty)).toEqual([10, 3, 0])
    expect([score, verdict]).toEqual([87, 'bad'])
  })

  test('loses at most the cap of each category', () => {
    const all =
      'display:flex;position:absolute;transform:none;filter:none;object-fit:cover;width:calc(1px);--a:1;color:lab(1 1 1)'
    expect(analyze({ ...GOOD, ...css(all) }).score).toBe(100 - CATEGORIES.clients)
  })

  test('of a mail with every fault is 0', () => {
    const html =
      '<script></script><b onclick=x><a href="http://a:b@192.0.2.1">www.bank.com</a><iframe></iframe><img src=x>{{a}}</i><form>'
    const from = { name: 'a@b.com', local: 'noreply', domain: 'shop.example.org' }
    const domain: DomainReadiness = { status: 'pending', findings: [] }
    const bad = analyze({ ...GOOD, html, text: null, from, domain, subject: 'RE: ACT NOW!!! YOU WON $$$' })
    expect([bad.score, bad.verdict]).toEqual([0, 'bad'])
  })

  test('without an error is good from 85, and a warning below', () => {
    const subject = 'RE: ACT NOW YOU WON!!!'
    expect(analyze({ ...GOOD, subject })).toMatchObject({ score: 79, verdict: 'warning' })
    expect(analyze({ ...GOOD, subject: 'RE: TEA HAS LEFT' })).toMatchObject({ score: 87, verdict: 'good' })
  })
})

describe('the result', () => {
  test('says what is wrong, where, and what to do', () => {
    const { issues } = analyze({ ...GOOD, ...body('\n<div>\n<b>x</div>\n</i>'), subject: 'TEA AND CAKE' })
    expect(issues).toEqual([
      expect.objectContaining({ code: 'subject_capitals', field: 'subject' }),
      expect.objectContaining({
        code: 'html_unclosed_tag',
        severity: 'warning',
        category: 'html',
        field: 'html',
        penalty: 5,
        message: 'Tags are not closed: <b> in line 3. Close them. Clients handle unclosed tags differently.',
      }),
      expect.objectContaining({ code: 'html_stray_close', message: expect.stringContaining('</i> in line 4') }),
      expect.objectContaining({ code: 'text_missing', field: 'text' }),
    ])
  })

  test('names the field that contains an unresolved variable', () => {
    const issue = (change: Partial<AnalysisInput>) => analyze({ ...GOOD, ...change }).issues[0]
    expect(issue({ text: `${GOOD.text} {{a}}` })).toMatchObject({ code: 'variables_unresolved', field: 'text' })
    expect(issue({ subject: 'Tea for {{a}}' })).toMatchObject({ code: 'variables_unresolved', field: 'subject' })
  })

  test('counts and lists the links with their problems', () => {
    const html = page(
      `<p>${WORDS}</p><a href="http://bit.ly/x?a=1&amp;b=2">Tea <b>server</b></a>${IMAGE}<img src="https://a.example.org/x.png" alt="" width="10" height="10">`,
    )
    const text = `${WORDS} https://shop.example.org/1.`
    const { stats, links } = analyze({ ...GOOD, html, text })
    expect(links).toEqual([
      { url: 'http://bit.ly/x?a=1&b=2', text: 'Tea server', problems: ['link_insecure', 'link_shortener'] },
      { url: 'https://shop.example.org/1', text: 'https://shop.example.org/1', problems: [] },
    ])
    expect(stats).toEqual({
      sizeBytes: 4000,
      subjectCharacters: GOOD.subject.length,
      htmlBytes: Buffer.byteLength(html),
      textBytes: Buffer.byteLength(text),
      words: 23,
      links: 1,
      images: 2,
      remoteImages: 1,
      attachments: 1,
      imageTextRatio: 0.17,
    })
  })

  test('has a known category for every code, and whole sentences', () => {
    for (const [code, { what, advice, category, penalty, severity }] of Object.entries(FINDING_KINDS)) {
      expect(code).toMatch(/^[a-z0-9]+(?:_[a-z0-9]+)+$/)
      expect(Object.keys(CATEGORIES)).toContain(category)
      expect(what).not.toMatch(/[.:]$/)
      expect(advice).toEndWith('.')
      if (severity === 'error') expect(penalty).toBeGreaterThanOrEqual(8)
      if (severity === 'info') expect(penalty).toBeLessThanOrEqual(2)
    }
  })
})

import { expect, test } from 'bun:test'
import { PROVIDER_NAMES, PROVIDERS } from './providers.ts'
import { createListReader, type ListFormat, type Reading } from './read-list.ts'

const ANY: ListFormat = { provider: null, kind: null, stream: null }

/** A list, `size` characters at a time → its readings. */
function read(text: string, format: Partial<ListFormat> = {}, size = text.length || 1): Reading[] {
  const reader = createListReader({ ...ANY, ...format })
  const readings: Reading[] = []
  for (let at = 0; at < text.length; at += size) readings.push(...reader.push(text.slice(at, at + size)))
  return [...readings, ...reader.end()]
}
/** Each reading in a line. */
const parsed = (...given: Parameters<typeof read>) =>
  read(...given).map((reading) => {
    if ('fault' in reading) return `${reading.number} ${reading.fault}`
    if ('passedOver' in reading) return `${reading.number} passed over: ${reading.passedOver}`
    const { email, stream, reason, at, evidence } = reading.entry
    const said = stream === null ? reason : `${reason} (${stream})`
    return `${reading.number} ${email} ${said} ${at === null ? '-' : new Date(at).toISOString()} ${evidence ?? '-'}`
  })

const SOFT = 'passed over: was a temporary failure, which is not imported'

const lists: [name: string, text: string, format: Partial<ListFormat>, expected: string[]][] = [
  [
    'Postmark, JSON',
    `{"Suppressions":[
      {"EmailAddress":"A@x.example","SuppressionReason":"HardBounce","Origin":"Recipient","CreatedAt":"2019-11-09T13:52:02Z"},
      {"EmailAddress":"b@x.example","SuppressionReason":"SpamComplaint","Origin":"Recipient","CreatedAt":"2019-12-10T08:58:33-05:00"},
      {"EmailAddress":"c@x.example","SuppressionReason":"ManualSuppression","Origin":"Recipient","CreatedAt":"2019-12-10"},
      {"EmailAddress":"d@x.example","SuppressionReason":"ManualSuppression","Origin":"Customer","CreatedAt":""},
      {"EmailAddress":"e@x.example","SuppressionReason":"Whim","Origin":"Customer","CreatedAt":""}]}`,
    {},
    [
      '1 a@x.example hard_bounce 2019-11-09T13:52:02.000Z Postmark: HardBounce, origin Recipient',
      '2 b@x.example complaint 2019-12-10T13:58:33.000Z Postmark: SpamComplaint, origin Recipient',
      '3 c@x.example unsubscribe 2019-12-10T00:00:00.000Z Postmark: ManualSuppression, origin Recipient',
      '4 d@x.example manual - Postmark: ManualSuppression, origin Customer',
      '5 has an unknown SuppressionReason: Whim',
    ],
  ],
  [
    'Postmark, CSV as spreadsheets write it',
    '\ufeffEmailAddress;SuppressionReason;Origin;CreatedAt\r\na@x.example;HardBounce;Recipient;2020-01-02T03:04:05Z\r\n',
    {},
    ['2 a@x.example hard_bounce 2020-01-02T03:04:05.000Z Postmark: HardBounce, origin Recipient'],
  ],
  [
    'SES, JSON of its command line',
    `{"SuppressedDestinationSummaries":[
      {"EmailAddress":"a@x.example","Reason":"BOUNCE","LastUpdateTime":"2020-04-10T21:03:05.123000+00:00"},
      {"EmailAddress":"b@x.example","Reason":"COMPLAINT","LastUpdateTime":1586552585.077},
      {"EmailAddress":"c@x.example","Reason":"constructor","LastUpdateTime":1586552585}]}`,
    {},
    [
      '1 a@x.example hard_bounce 2020-04-10T21:03:05.123Z SES: BOUNCE',
      '2 b@x.example complaint 2020-04-10T21:03:05.000Z SES: COMPLAINT',
      '3 has an unknown Reason: constructor',
    ],
  ],
  [
    'Postal, as mysql --batch prints it',
    'id\ttype\taddress\treason\ttimestamp\tkeep_until\n' +
      '1\trecipient\ta@x.example\ttoo many hard fails\t1586552585.077000\t1589144585.077000\n' +
      '2\tother\tb@x.example\t\t1586552585.0\t1589144585.0\n',
    {},
    ['2 a@x.example hard_bounce 2020-04-10T21:03:05.000Z Postal: too many hard fails', '3 has an unknown type: other'],
  ],
  [
    'Resend, JSON',
    '{"object":"list","has_more":false,"data":[{"id":"1","email":"a@x.example","origin":"bounce","source_id":"479e","created_at":"2026-04-03 22:13:42.674981+00"},{"id":"2","email":"b@x.example","origin":"manual","source_id":null,"created_at":"2026-04-03T22:13:42.674Z"}]}',
    {},
    [
      '1 a@x.example hard_bounce 2026-04-03T22:13:42.674Z Resend: bounce of 479e',
      '2 b@x.example manual 2026-04-03T22:13:42.674Z Resend: manual',
    ],
  ],
  [
    'Resend, CSV',
    'id,email,origin,source_id,created_at\n1,a@x.example,complaint,479e,2026-04-03T22:13:42Z\n',
    {},
    ['2 a@x.example complaint 2026-04-03T22:13:42.000Z Resend: complaint of 479e'],
  ],
  [
    'SendGrid bounces, JSON',
    '[{"created":1443651125,"email":"a@x.example","reason":"550 5.1.1 The account\\r\\ndoes not exist.","status":"5.1.1"},{"created":1443651126,"email":"b@x.example","reason":"452 4.2.2 full","status":"4.2.2"}]',
    {},
    ['1 a@x.example hard_bounce 2015-09-30T22:12:05.000Z SendGrid: 550 5.1.1 The account does not exist.', `2 ${SOFT}`],
  ],
  [
    'SendGrid spam reports',
    'email,ip,created\na@x.example,10.1.1.1,1443651125\n',
    {},
    ['2 a@x.example complaint 2015-09-30T22:12:05.000Z SendGrid: complaint'],
  ],
  [
    'SendGrid unsubscribes, identified by their name',
    'email,created\na@x.example,2015-09-30 22:12:05\n',
    { kind: 'unsubscribe' },
    ['2 a@x.example unsubscribe 2015-09-30T22:12:05.000Z SendGrid: unsubscribe'],
  ],
  [
    'SendGrid, of an unknown kind',
    'email,created\na@x.example,1443651125\nb@x.example,1443651125\n',
    {},
    ['2 The list does not say whether these are bounces, complaints or unsubscribes. Set reason.'],
  ],
  ['SendGrid blocks', 'email,created,reason,status\na@x.example,1,550 spam,5.7.1\n', { kind: 'block' }, [`2 ${SOFT}`]],
  [
    'Mailgun bounces, CSV with a comma and line ends in quotes',
    'address,code,error,created_at\na@x.example,550,"No ""such""\r\nmailbox, sorry","Fri, 21 Oct 2011 11:02:55 GMT"\nb@x.example,421,later,"Fri, 21 Oct 2011 11:02:55 UTC"\nc@x.example,605,,\n',
    {},
    [
      '2 a@x.example hard_bounce 2011-10-21T11:02:55.000Z Mailgun: 550 No "such" mailbox, sorry',
      `4 ${SOFT}`,
      '5 c@x.example hard_bounce - Mailgun: 605',
    ],
  ],
  [
    'Mailgun unsubscribes, two pages of JSON',
    '{"items":[{"address":"a@x.example","tags":["*"],"created_at":"Fri, 21 Oct 2011 11:02:55 +0200"}],"paging":{"next":"https://x"}}\n{"items":[{"address":"b@x.example","tags":["news","tips"],"created_at":""}]}',
    {},
    [
      '1 a@x.example unsubscribe 2011-10-21T09:02:55.000Z Mailgun: unsubscribe',
      '2 passed over: unsubscribed from news, tips only. Set stream to import it.',
    ],
  ],
  [
    'Mailgun unsubscribes of tags, for a stream',
    'address,tags,created_at\na@x.example,news,\nb@x.example,*,\n',
    { stream: 'bulk' },
    [
      '2 a@x.example unsubscribe (bulk) - Mailgun: unsubscribe',
      '3 b@x.example unsubscribe (bulk) - Mailgun: unsubscribe',
    ],
  ],
  [
    'SendGrid groups, which say nothing about other mail',
    '[{"email":"a@x.example","group_id":1,"group_name":"Weekly news","created_at":1443651125}]',
    {},
    ['1 passed over: unsubscribed from Weekly news only. Set stream to import it.'],
  ],
  [
    'a SendGrid group for a stream',
    '[{"email":"a@x.example","group_id":1,"group_name":"Weekly news","created_at":1443651125}]',
    { stream: 'news' },
    ['1 a@x.example unsubscribe (news) 2015-09-30T22:12:05.000Z SendGrid: unsubscribed from Weekly news'],
  ],
  [
    'a Postmark stream: an address that does not exist is suppressed for every stream',
    'EmailAddress,SuppressionReason,Origin\na@x.example,HardBounce,Recipient\nb@x.example,ManualSuppression,Recipient\n',
    { stream: 'news' },
    [
      '2 a@x.example hard_bounce - Postmark: HardBounce, origin Recipient',
      '3 b@x.example unsubscribe (news) - Postmark: ManualSuppression, origin Recipient',
    ],
  ],
  [
    'ours, each record with its own stream before that of the import',
    'email,reason,stream\na@x.example,hard_bounce,bulk\nb@x.example,manual,\n',
    { stream: 'news' },
    ['2 a@x.example hard_bounce (bulk) - -', '3 b@x.example manual (news) - -'],
  ],
  [
    'Mailgun complaints',
    'address,created_at\na@x.example,\n',
    { kind: 'complaint' },
    ['2 a@x.example complaint - Mailgun: complaint'],
  ],
  [
    'ours, and only addresses',
    'reason,email\n,a@x.example\ncomplaint,"\'+b@x.example"\n',
    {},
    ['2 a@x.example manual - -', '3 +b@x.example complaint - -'],
  ],
  [
    'ours with an unknown reason',
    'email,reason\na@x.example,whim\n',
    {},
    ['2 reason must be one of hard_bounce, complaint, unsubscribe, manual'],
  ],
  [
    'no addresses',
    'name,age\nAnn,7\nBob,8\n',
    {},
    ['1 No column with addresses found among name, age. Name it email.'],
  ],
  [
    'addresses alone',
    'a@x.example\nnobody\nb@x.example\n',
    {},
    ['1 a@x.example manual - -', '2 has no email address', '3 b@x.example manual - -'],
  ],
  [
    'of an unknown service',
    'email,created\na@x.example,1\n',
    { provider: 'postmark' },
    ['1 The columns do not match an export of postmark: email, created'],
  ],
  ['nothing', ' \n', {}, []],
]
test.each(lists)('%s', (_, text, format, expected) => {
  expect(parsed(text, format)).toEqual(expected)
  for (const size of [1, 2, 7]) expect(parsed(text, format, size)).toEqual(expected)
})

test('reports a bad line by its number and continues', () => {
  const text = [
    'email,reason',
    'a@x.example,manual',
    'nobody,manual',
    'b@x.example',
    'c@x.example,manual,more',
    '"d@x.example",manual',
    'e"x@x.example,manual',
    '"f@x.example"x,manual',
    '',
    '"Ann <g@x.example>",manual',
    'h@x.example,manual',
  ].join('\n')
  expect(parsed(text)).toEqual([
    '2 a@x.example manual - -',
    '3 has no email address',
    '4 has 1 fields; the header has 2',
    '5 has 3 fields; the header has 2',
    '6 d@x.example manual - -',
    '7 has a quote that is never closed',
    '8 has a quote inside an unquoted field',
    '10 has no email address',
    '11 h@x.example manual - -',
  ])
})

test('an unclosed quote costs one line, however long the list', () => {
  const lines = Array.from({ length: 3_000 }, (_, at) => `a${at}@x.example,manual`)
  lines[5] = '"a5@x.example,manual'
  const readings = read(`email,reason\n${lines.join('\n')}\n`, {}, 1_000)
  expect(readings.filter((reading) => 'fault' in reading)).toEqual([
    { number: 7, fault: 'has a quote that is never closed' },
  ])
  expect(readings).toHaveLength(3_000)
})

// threat: hostile-suppression-lists
test('a quote before nothing but line ends costs no more than the kept text', () => {
  const readings = read(`email\n"${'\n'.repeat(1_500_000)}a@x.example\n`, {}, 4_096)
  expect(readings).toEqual([
    { number: 2, fault: 'has a quote that is never closed' },
    {
      number: 1_500_002,
      entry: { email: 'a@x.example', reason: 'manual', domainId: null, stream: null, at: null, evidence: null },
    },
  ])
})

// threat: hostile-suppression-lists
test('an object that is nested without end does not stop the list', () => {
  const deep = `{"email":"a@x.example","evidence":${'['.repeat(30_000)}${']'.repeat(30_000)}}`
  const text = `[${deep},{"email":"b@x.example","evidence":[["said"]]}]`
  expect(parsed(text)).toEqual(['1 is nested more than 8 levels deep', '2 b@x.example manual - said'])
})

test('an object that is invalid or too long, and a list that ends early, are reported', () => {
  const long = `{"email":"a@x.example","reason":"manual","evidence":"${'x'.repeat(70_000)}"}`
  const text = `[{"email":"a@x.example",},${long},{"email":"b@x.example","evidence":"}]\\""},{"email":"c@x`
  const expected = [
    '1 is not valid JSON',
    '2 is longer than 64 KiB',
    '3 b@x.example manual - }]"',
    '4 the list ends unexpectedly',
  ]
  expect(parsed(text)).toEqual(expected)
  expect(parsed(text, {}, 1_000)).toEqual(expected)
})

// threat: formulas-and-terminal-controls
test('evidence is one short line', () => {
  const [reading] = read(JSON.stringify([{ email: 'a@x.example', evidence: `a\u001b[2J\n${'b'.repeat(900)}` }]))
  expect(reading).toMatchObject({ entry: { evidence: `a [2J ${'b'.repeat(494)}` } })
})

test('every provider that can be read can be named, and no other', () => {
  expect(PROVIDER_NAMES).toEqual(['resend', 'postmark', 'sendgrid', 'mailgun', 'ses', 'postal'])
  expect(PROVIDERS.map(({ name }) => name).toSorted()).toEqual([...PROVIDER_NAMES].toSorted())
})

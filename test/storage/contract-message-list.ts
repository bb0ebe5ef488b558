import { expect } from 'bun:test'
import { DELIVERY_STATUSES, isFinal, MESSAGE_STATUSES, messageStatus } from '../../src/model/message.ts'
import type { AcceptedMessage, MessageFilter, Store } from '../../src/storage/store.ts'
import type { Holds } from './contract.ts'
import { ALL_MESSAGES, accept, claim, found, idsByPage, recordOf, START } from './records.ts'

const OVER = { status: 'bounced', nextAttemptAt: null } as const

export function messageListPromises(holds: Holds): void {
  holds('messages are listed newest first', async (store, records) => {
    await found(store, records)
    const all = [records.accepted(), records.accepted(), records.accepted()]
    for (const each of all) await accept(store, each)
    await accept(store, records.accepted({ organizationId: 'org_b' }))
    const ids = await idsByPage((page) => store.messages.list(ALL_MESSAGES, page))
    expect(ids).toEqual(all.map(({ message }) => message.id).reverse())
    const page = await store.messages.list(ALL_MESSAGES, { limit: 2, after: null })
    expect([page.records.length, page.hasMore]).toEqual([2, true])
    expect(page.records[0]).toEqual(all[2]!.message)
    expect(
      await store.messages.list({ ...ALL_MESSAGES, organizationId: 'org_none' }, { limit: 9, after: null }),
    ).toEqual({
      records: [],
      hasMore: false,
    })
  })

  holds('a cursor whose message was removed continues with older ones', async (store, records) => {
    await found(store, records)
    const all = [records.accepted(), records.accepted(), records.accepted(), records.accepted()]
    const [oldest, older, gone, newest] = all
    for (const each of [oldest!, older!, newest!]) await accept(store, each)
    const after = gone!.message.id
    expect(await idsOf(store, {}, after)).toEqual([older!.message.id, oldest!.message.id])
    expect(await idsOf(store, {}, 'msg_0')).toEqual([])
  })

  holds('every filter finds its messages and no others', async (store, records) => {
    await found(store, records)
    const wanted = records.accepted({
      status: 'bounced',
      from: 'Ann <Ann@A.example>',
      subject: 'Your ÜBERWEISUNG is ready',
      tags: ['billing', 'eu'],
      templateId: 'tpl_1',
      domainId: 'dom_x',
      mode: 'test',
      stream: 'bulk',
      createdAt: START + 50,
      deliveries: [
        { email: 'Bob@Dest.example', ...OVER },
        { email: 'carol@other.example', type: 'bcc', ...OVER },
      ],
    })
    const other = records.accepted({ tags: ['bill'], subject: 'Überfall', from: 'bann@a.example' })
    Object.assign(other.message, { messageIdHeader: '<written.by@the-author.example>' })
    await accept(store, wanted, other)
    const matching: Partial<MessageFilter>[] = [
      { status: 'bounced' },
      { to: 'bob@dest.EXAMPLE' },
      { to: 'carol@other.example' },
      { from: 'ann@a.EXAMPLE' },
      { subject: 'überWEISUNG' },
      { subject: 'READY' },
      { tag: 'billing' },
      { tag: 'eu' },
      { templateId: 'tpl_1' },
      { domainId: 'dom_x' },
      { mode: 'test' },
      { stream: 'bulk' },
      { createdAfter: START + 50 },
      { createdAfter: START + 50, createdBefore: START + 51 },
      { text: 'überweisung' },
      { id: wanted.message.id },
      { id: wanted.message.id, messageIdHeader: wanted.message.messageIdHeader },
    ]
    for (const filter of matching) expect([filter, await idsOf(store, filter)]).toEqual([filter, [wanted.message.id]])
    expect(await idsOf(store, Object.assign({}, ...matching))).toEqual([wanted.message.id])
    const empty: Partial<MessageFilter>[] = [
      { status: 'cancelled' },
      { to: 'bob@dest' },
      { from: 'Ann' },
      { subject: '%' },
      { subject: 'your_' },
      { tag: 'Billing' },
      { tag: 'bil' },
      { stream: 'bul' },
      { templateId: '' },
      { createdAfter: START + 51 },
      { createdBefore: START },
      { tag: 'bill', mode: 'test' },
      { to: 'bob@dest.example', text: 'überfall' },
      { id: wanted.message.id, status: 'cancelled' },
      { id: 'msg_00000000000000000000000000' },
      { id: wanted.message.id, messageIdHeader: '<other@a.example>' },
      { messageIdHeader: '<Written.by@the-author.example>' },
    ]
    for (const filter of empty) expect([filter, await idsOf(store, filter)]).toEqual([filter, []])
    expect(await idsOf(store, { stream: 'transactional' })).toEqual([other.message.id])
    expect(await idsOf(store, { createdBefore: START + 50 })).toEqual([other.message.id])
    expect(await idsOf(store, { messageIdHeader: other.message.messageIdHeader })).toEqual([other.message.id])
    expect(await idsOf(store, { id: wanted.message.id }, wanted.message.id)).toEqual([])
  })

  holds('a recipient is found by its domain as people write it, also beside words', async (store, records) => {
    await found(store, records)
    const { message } = await accept(
      store,
      records.accepted({ subject: 'Your parcel', deliveries: [{ email: 'dora@xn--exmple-cua.example' }] }),
    )
    for (const text of [null, 'parcel'])
      expect([text, await idsOf(store, { to: 'Dora@exämple.example', text })]).toEqual([text, [message.id]])
  })

  holds('metadata is found by its value as a query spells it', async (store, records) => {
    await found(store, records)
    const metadata = {
      text: 'x',
      empty: '',
      whole: 42,
      third: 0.1 + 0.2,
      large: 1e21,
      below: -7,
      yes: true,
      no: false,
      digits: '42',
      'quo"te': 'q',
      'a.b[0]': 5,
      $: 'dollar',
      'ключ 🎉': 'emoji 🎉',
    }
    const { message } = await accept(store, records.accepted({ metadata }))
    await accept(store, records.accepted({ metadata: { text: 'y', 'a.b': 5, true: 'yes' } }))
    for (const [key, value] of Object.entries(metadata)) {
      const filter = { metadata: [{ key, value: String(value) }] }
      expect([filter, await idsOf(store, filter)]).toEqual([filter, [message.id]])
    }
    const all = Object.entries(metadata).map(([key, value]) => ({ key, value: String(value) }))
    expect(await idsOf(store, { metadata: all })).toEqual([message.id])
    for (const [key, value] of [
      ['text', 'X'],
      ['whole', '42.0'],
      ['yes', '1'],
      ['no', '0'],
      ['none', ''],
      ['Text', 'x'],
      ['text', "x' or 1 = 1 --"],
      ['text', '\0'],
      ['text', '\ud83d'],
      ['\0', '\\u0000'],
      ['whole', '42\udc00'],
    ] as const) {
      expect(await idsOf(store, { metadata: [{ key, value }] })).toEqual([])
    }
    expect(await idsOf(store, { metadata: [...all, { key: 'text', value: 'y' }] })).toEqual([])
  })

  holds('text finds words of subject and addresses, the last word by its beginning', async (store, records) => {
    await found(store, records)
    const { message } = await accept(
      store,
      records.accepted({
        subject: 'Invoice "No. 17" for Café-Noir * NEAR the sea 🎉',
        from: 'Zoë Müller <billing@a.example>',
        deliveries: [{ email: 'first.last+tag@dest.example' }, { email: 'hidden@other.example', type: 'bcc' }],
      }),
    )
    await accept(store, records.accepted({ subject: 'Nothing', deliveries: [{ email: 'x@y.example' }] }))
    const finding = [
      'invoice',
      'INVO',
      'invoice caf',
      'sea invoice',
      'cafe noir',
      'café-noir',
      '"No. 17"',
      '"17',
      'NEAR',
      'near the',
      'invoice * sea',
      'invoice - sea',
      'sea 🎉',
      '🎉sea',
      'zoe muller',
      'billing@a.example',
      'first.last+tag@dest.example',
      'hidden@oth',
      '  invoice\t\u00a0sea ',
      'invoice\0sea',
      '^invoice',
      '{invoice}',
      "invoice' ",
    ]
    for (const text of finding) expect([text, await idsOf(store, { text })]).toEqual([text, [message.id]])
    const nothing = [
      '',
      ' ',
      '"',
      '""',
      '*',
      '-',
      '🎉',
      'voice',
      'invoice nothing',
      'NEAR(invoice sea)',
      'invoice OR nothing',
      'NOT nothing',
      'words : invoice',
      'inv ice',
      '"invoice" "absent',
      '\0',
      '\ud800',
      'a'.repeat(10_000),
    ]
    for (const text of nothing) expect([text, await idsOf(store, { text })]).toEqual([text, []])
    expect(await idsOf(store, { text: Array(2000).fill('invoice').join(' ') })).toEqual([message.id])
  })

  holds('text finds what was just accepted, before and after maintenance', async (store, records) => {
    await found(store, records)
    const all = Array.from({ length: 450 }, () => records.accepted({ subject: 'bulk' }))
    await accept(store, ...all, records.accepted({ subject: 'needle' }))
    expect(await idsOf(store, { text: 'needle' })).toHaveLength(1)
    while (await store.maintain('recent', () => true));
    expect(await idsOf(store, { text: 'needle' })).toHaveLength(1)
    await accept(store, ...Array.from({ length: 450 }, () => records.accepted({ subject: 'bulk' })))
    for (const isMaintained of [false, true]) {
      while (isMaintained && (await store.maintain('recent', () => true)));
      const page = await store.messages.list({ ...ALL_MESSAGES, text: 'bulk' }, { limit: 1000, after: null })
      expect([isMaintained, page.records.length]).toEqual([isMaintained, 900])
    }
  })

  holds('accents, other scripts and symbols are found, and letters of no word find nothing', async (store, records) => {
    await found(store, records)
    const subjects = ['Cafe\u0301 noir', 'Дом 2', '東京 タワー', 'x²', 'नमस्ते', 'red \u19b0 \u1cf2']
    const all = subjects.map((subject) => records.accepted({ subject }))
    await accept(store, ...all)
    for (const [at, text] of ['café', 'дом', '東京', 'x²', 'नमस्ते', 'RED \u1cf2\u19c9', '\u19b0red'].entries()) {
      expect([text, await idsOf(store, { text })]).toEqual([text, [all[Math.min(at, 5)]!.message.id]])
    }
    expect(await idsOf(store, { text: '\u19b0' })).toEqual([])
  })

  holds('a phrase is found as it was written, and across the pages of a list', async (store, records) => {
    await found(store, records)
    const subjects = ['red-green blue', 'green-red blue', 'red blue green', 'red-green']
    const all = subjects.map((subject) => records.accepted({ subject }))
    await accept(store, ...all)
    const ids = all.map(({ message }) => message.id)
    const search = (text: string) => idsByPage((page) => store.messages.list({ ...ALL_MESSAGES, text }, page))
    expect(await search('red-green')).toEqual([ids[3]!, ids[0]!])
    expect(await search('green-red')).toEqual([ids[1]!])
    expect(await search('red-green blu')).toEqual([ids[0]!])
    expect(await search('blue red-gre')).toEqual([ids[0]!])
    expect(await search('red green')).toEqual(ids.toReversed())
  })

  holds('a message is found by the status that it has, whatever those of its deliveries', async (store, records) => {
    await found(store, records)
    const combinations = DELIVERY_STATUSES.flatMap((one) => [
      [one],
      ...DELIVERY_STATUSES.flatMap((two) => [[one, two], ...DELIVERY_STATUSES.map((three) => [one, two, three])]),
    ])
    const all = combinations.map((statuses) =>
      records.accepted({
        status: messageStatus(statuses),
        deliveries: statuses.map((status) => ({ status, nextAttemptAt: isFinal(status) ? null : START })),
      }),
    )
    await accept(store, ...all)
    for (const status of MESSAGE_STATUSES) {
      const page = await store.messages.list({ ...ALL_MESSAGES, status }, { limit: 1000, after: null })
      const expected = all.filter(({ message }) => message.status === status).map(({ message }) => message.id)
      expect([status, page.records.map(({ id }) => id)]).toEqual([status, expected.toReversed()])
      expect(page.records.every((message) => message.status === status)).toBe(true)
    }
  })

  holds('a status filter follows the message', async (store, records) => {
    await found(store, records)
    const { message } = await accept(store, records.accepted())
    expect(await idsOf(store, { status: 'queued' })).toEqual([message.id])
    await store.deliveries.record(recordOf((await claim(store))[0]!))
    expect(await idsOf(store, { status: 'queued' })).toEqual([])
    expect(await idsOf(store, { status: 'delivered' })).toEqual([message.id])
  })

  holds('paging through a filter returns every match once', async (store, records) => {
    await found(store, records)
    const wanted: AcceptedMessage[] = []
    for (let i = 0; i < 9; i++) {
      const each = records.accepted({ tags: i % 2 === 0 ? ['even'] : [], subject: `Number ${i}` })
      await accept(store, each)
      if (i % 2 === 0) wanted.push(each)
    }
    const filter = { ...ALL_MESSAGES, tag: 'even', text: 'number' }
    const ids = await idsByPage((page) => store.messages.list(filter, page))
    expect(ids).toEqual(wanted.map(({ message }) => message.id).reverse())
  })
}

async function idsOf(store: Store, filter: Partial<MessageFilter>, after: string | null = null): Promise<string[]> {
  const page = await store.messages.list({ ...ALL_MESSAGES, ...filter }, { limit: 100, after })
  return page.records.map(({ id }) => id)
}

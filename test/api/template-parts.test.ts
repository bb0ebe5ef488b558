import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { expectCostUnder } from '../support/cpu-cost.ts'
import { MAIL, openMessageApi } from './messages-setup.ts'

let server: Awaited<ReturnType<typeof openMessageApi>>
let keys: Record<'manage' | 'foreign', string>
beforeAll(async () => {
  server = await openMessageApi()
  keys = {
    manage: await server.mintKey('example.com', 'live', ['send', 'read', 'manage']),
    foreign: await server.mintKey('other.example', 'live', ['manage']),
  }
})
afterAll(() => server.close())

const { from, to } = MAIL
const ask = (method: string, path: string, body?: unknown, key = keys.manage) => server.ask(method, path, body, { key })
const create = (body: Record<string, unknown>, key?: string) =>
  ask('POST', '/v1/templates', { name: 'n', ...body }, key)
const made = async (body: Record<string, unknown>, key?: string) => {
  const answer = await create(body, key)
  expect([answer.status, answer.body]).toEqual([201, expect.anything()])
  return answer.body
}
const render = (alias: string, body: Record<string, unknown> = {}) => ask('POST', `/v1/templates/${alias}/render`, body)
const contentOf = async (mail: Record<string, unknown>) => {
  const sent = await server.send({ from, to, ...mail })
  expect([sent.status, sent.body]).toEqual([202, expect.anything()])
  const { body } = await server.ask('GET', `/v1/messages/${sent.body.id}/content`)
  return { subject: body.subject, html: body.html, text: body.text }
}

describe('locales', () => {
  const locales = {
    'pt-br': { subject: 'Oi {{ name }}', html: '<p>Oi {{ apelido }}</p>' },
    pt: { subject: 'Olá', text: 'Olá' },
  }
  beforeAll(() => made({ alias: 'hello', subject: 'Hi {{ name }}', text: 'Hi', locales }))

  test.each([
    ['pt-BR', 'Oi Ann'],
    ['PT-br', 'Oi Ann'],
    ['pt-PT', 'Olá'],
    ['pt-Latn-BR', 'Olá'],
    ['de', 'Hi Ann'],
    [null, 'Hi Ann'],
  ])('a message in %p has the subject %p', async (locale, subject) => {
    const variables = { name: 'Ann', apelido: 'A' }
    expect((await contentOf({ template_id: 'hello', variables, locale })).subject).toBe(subject)
    const { body } = await render('hello', { variables, ...(locale === null ? {} : { locale }) })
    expect(body.subject).toBe(subject)
  })

  test('each variant has its variables, and the locale its usual case', async () => {
    const { body } = await ask('GET', '/v1/templates/hello')
    expect(body.variables).toEqual(['name'])
    expect(body.locales['pt-BR']).toEqual({
      ...locales['pt-br'],
      mjml: null,
      text: null,
      variables: ['name', 'apelido'],
    })
    expect(body.locales.pt.html).toBeNull()
  })

  test('a change adds, replaces and removes variants, and makes a version', async () => {
    await made({ alias: 'changing', text: 'a', locales: { de: { text: 'b' }, fr: { text: 'c' } } })
    const change = { locales: { de: null, it: { text: 'd' } } }
    const { body } = await ask('PATCH', '/v1/templates/changing', change)
    expect([body.version, Object.keys(body.locales)]).toEqual([2, ['fr', 'it']])
    const old = await ask('GET', '/v1/templates/changing?version=1')
    expect(Object.keys(old.body.locales)).toEqual(['de', 'fr'])
    const renamed = await ask('PATCH', '/v1/templates/changing', { name: 'x' })
    expect(renamed.body).toMatchObject({ version: 2, locales: { fr: { text: 'c' } } })
  })

  test.each([
    [{ locales: { deutsch: { text: 'x' } } }, 'locales'],
    [{ locales: { de: { text: 'x' }, DE: { text: 'y' } } }, 'locales'],
    [{ locales: { de: {} } }, 'locales.de.html'],
    [{ locales: { de: { text: '{% if %}' } } }, 'locales.de.text'],
    [{ locales: { de: { text: 'x', name: 'y' } } }, 'locales.de'],
    [{ locales: [] }, 'locales'],
  ])('%j is refused', async (body, field) => {
    const answer = await create({ text: 'x', ...body })
    expect([answer.status, answer.body.error.field]).toEqual([400, field])
  })

  test('a message without template has no locale', async () => {
    const answer = await server.send({ ...MAIL, locale: 'de' })
    expect([answer.status, answer.body.error.field]).toEqual([400, 'locale'])
  })
})

describe('layouts and partials', () => {
  beforeAll(async () => {
    const text = '{{ company }} {{ note | default: "-" }}'
    await made({
      kind: 'partial',
      alias: 'footer',
      html: `<i>${text}</i>`,
      text,
      locales: { de: { html: 'Fuß', text: 'Fuß' } },
    })
    await made({ kind: 'layout', alias: 'frame', html: '<body>{{ content }}{% render "footer" %}</body>' })
    await made({
      alias: 'order',
      subject: 'Order',
      layout: 'frame',
      html: '<p>{{ name }}</p>{% render "footer", note: "x<y" %}',
      text: '{{ name }} {% render "footer" %}',
    })
  })
  const variables = { name: '<Ann>', company: 'A&B' }

  test('a message is rendered inside its layout, with partials, and escaped once', async () => {
    expect(await contentOf({ template_id: 'order', variables })).toEqual({
      subject: 'Order',
      html: '<body><p>&lt;Ann&gt;</p><i>A&amp;B x&lt;y</i><i>A&amp;B -</i></body>',
      text: '<Ann> A&B -',
    })
  })

  test('parts follow the locale of the message', async () => {
    const { html } = await contentOf({ template_id: 'order', variables, locale: 'de-AT' })
    expect(html).toBe('<body><p>&lt;Ann&gt;</p>FußFuß</body>')
  })

  test('the variables include those of the parts, without content and what is given everywhere', async () => {
    const { body } = await ask('GET', '/v1/templates/order')
    expect(body.variables).toEqual(['name', 'company', 'note'])
    await made({ kind: 'partial', alias: 'given', text: '{{ item.name }} {{ other }}' })
    expect((await made({ text: '{% render "given", item: row %}' })).variables).toEqual(['row', 'other'])
  })

  test('a preview has layout and partials, and shows what is missing in them', async () => {
    const body = { html: '{% render "footer" %}', layout: 'frame', variables: {} }
    const answer = await ask('POST', '/v1/templates/preview', body)
    expect(answer.body).toMatchObject({
      html: '<body><i>[company] -</i><i>[company] -</i></body>',
      missing: ['company'],
    })
  })

  test('a changed partial applies to later messages', async () => {
    await made({ kind: 'partial', alias: 'now', text: 'one' })
    await made({ alias: 'using', subject: 's', text: '{% render "now" %}' })
    expect((await contentOf({ template_id: 'using' })).text).toBe('one')
    await ask('PATCH', '/v1/templates/now', { text: 'two' })
    expect((await contentOf({ template_id: 'using' })).text).toBe('two')
  })

  test('a part in use is neither deleted nor renamed', async () => {
    const used = await ask('DELETE', '/v1/templates/footer')
    expect([used.status, used.body.error.details]).toMatchObject([
      409,
      {
        reason: 'template_in_use',
        used_by: expect.arrayContaining([{ id: expect.any(String), alias: 'order', name: 'n' }]),
      },
    ])
    const renamed = await ask('PATCH', '/v1/templates/frame', { alias: 'other' })
    expect(renamed.status).toBe(409)
    await ask('PATCH', '/v1/templates/frame', { alias: 'frame', name: 'Frame' })
    await made({ kind: 'partial', alias: 'unused', text: 'x' })
    expect((await ask('DELETE', '/v1/templates/unused')).status).toBe(200)
  })

  test('a list can be of one kind, page by page', async () => {
    const list = async (query: string) => (await ask('GET', `/v1/templates?${query}`)).body
    const all: { kind: string; alias: string }[] = (await list('limit=100')).data
    const partials = await list('kind=partial')
    expect(partials.data).toEqual(all.filter(({ kind }) => kind === 'partial'))
    expect(partials.data.length).toBeGreaterThan(1)
    const first = await list('kind=partial&limit=1')
    expect(first).toMatchObject({ data: partials.data.slice(0, 1), has_more: true })
    const second = await list(`kind=partial&limit=1&cursor=${first.next_cursor}`)
    expect(second.data).toEqual(partials.data.slice(1, 2))
    expect((await list('kind=frame')).error.field).toBe('kind')
  })

  test('no message is made from a part', async () => {
    const answer = await server.send({ from, to, subject: 's', template_id: 'footer', variables })
    expect([answer.status, answer.body.error.field]).toEqual([400, 'template_id'])
  })

  test.each([
    [{ html: '{% render "none" %}' }, 'html'],
    [{ html: '{% render "frame" %}' }, 'html'],
    [{ html: 'x', layout: 'footer' }, 'layout'],
    [{ html: 'x', layout: 'none' }, 'layout'],
    [{ html: 'x', subject: '{% render "footer" %}' }, 'subject'],
    [{ html: 'no content', kind: 'layout' }, 'html'],
    [{ html: '{{ content }}{{ content }}', kind: 'layout' }, 'html'],
    [{ html: '{{ content | upcase }}', kind: 'layout' }, 'html'],
    [{ html: '{{ content }}', kind: 'layout', layout: 'frame' }, 'layout'],
    [{ html: 'x', kind: 'partial', subject: 'x' }, 'subject'],
    [{ html: '{% include "footer" %}' }, 'html'],
    [{ html: '{% render "footer" with x %}' }, 'html'],
  ])('%j is refused', async (body, field) => {
    const answer = await create(body)
    expect([answer.status, answer.body.error.field]).toEqual([400, field])
  })
})

// threat: foreign-resources
test('parts of another organization are unknown', async () => {
  await made({ kind: 'partial', alias: 'theirs', text: 'secret' }, keys.foreign)
  const answer = await create({ text: '{% render "theirs" %}' })
  expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining('no partial')])
})

// threat: malformed-requests
describe('an attacker', () => {
  test('gets no cycle, not even through a change', async () => {
    await made({ kind: 'partial', alias: 'cycle-a', text: 'x' })
    await made({ kind: 'partial', alias: 'cycle-b', text: '{% render "cycle-a" %}' })
    for (const text of ['{% render "cycle-a" %}', '{% render "cycle-b" %}']) {
      const answer = await ask('PATCH', '/v1/templates/cycle-a', { text })
      expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining('contain itself')])
    }
  })

  test('gets at most 20 partials into a message, and not a thousand in a chain', async () => {
    await made({ kind: 'partial', alias: 'chain-0', text: 'x' })
    const answers: number[] = []
    for (let n = 1; n < 23; n++) {
      const answer = await create({ kind: 'partial', alias: `chain-${n}`, text: `{% render "chain-${n - 1}" %}` })
      answers.push(answer.status)
    }
    expect(answers.indexOf(400)).toBe(20)
    expect((await render('chain-9')).body.error.message).toContain('nested more than 8 deep')
    expect((await render('chain-8')).body.text).toBe('x')
  })

  test('gets no more work from partials than from one template', async () => {
    await made({ kind: 'partial', alias: 'big', text: 'y'.repeat(100_000) })
    await made({ kind: 'partial', alias: 'bigger', text: '{% for i in (1..1000) %}{% render "big" %}{% endfor %}' })
    await made({ alias: 'huge', text: '{% for i in (1..1000) %}{% render "bigger" %}{% endfor %}' })
    await expectCostUnder(1_000, async () => {
      const answer = await render('huge')
      expect([answer.status, answer.body.error.code]).toEqual([422, 'template_error'])
    })
  })

  test('names a partial like a property of every object', async () => {
    const answer = await create({ text: '{% render "constructor" %}' })
    expect([answer.status, answer.body.error.field]).toEqual([400, 'html'])
    await made({ kind: 'partial', alias: 'constructor', text: 'built' })
    await made({ alias: 'building', text: '{% render "constructor" %}' })
    expect((await render('building')).body.text).toBe('built')
  })
})

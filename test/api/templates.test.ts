import { afterEach, describe, expect, test } from 'bun:test'
import { parsingHere } from '../../src/server/parsing/parsing.ts'
import { templateOperations } from '../../src/web/api/routes/templates.ts'
import { createTestApi, type TestApi } from '../support/api.ts'

let made: TestApi | null = null

afterEach(async () => {
  await made?.close()
  made = null
})

const start = async () => {
  const { templateEngine } = parsingHere()
  const parsing = { parsed: 0 }
  const counted: typeof templateEngine = {
    ...templateEngine,
    parse: (texts, as, owner) => {
      parsing.parsed++
      return templateEngine.parse(texts, as, owner)
    },
  }
  made = await createTestApi({
    operations: (parts) => templateOperations({ ...parts, templateEngine: counted }),
    bodyBytes: 2_000_000,
  })
  return { ...made, parsing }
}

const WELCOME = {
  name: 'Welcome',
  alias: 'welcome',
  subject: 'Hi {{ user.name }}',
  html: '<p>{{ user.name }}, {{ note | default: "welcome" }}</p>',
  text: '{{ user.name }}: {{ link }}',
}

describe('a template', () => {
  test('is created, read by id and by alias, and removed', async () => {
    const { ask } = await start()
    const answer = await ask('POST', '/v1/templates', { body: WELCOME })
    const { name, alias, ...texts } = WELCOME
    const record = {
      id: expect.stringMatching(/^tpl_[0-9a-z]{26}$/),
      alias,
      name,
      mode: 'live',
      kind: 'message',
      ...texts,
      mjml: null,
      layout: null,
      locales: {},
      variables: ['user.name', 'note', 'link'],
      sample: {},
      version: 1,
      created_at: '2026-11-21T12:00:00.000Z',
      updated_at: '2026-11-21T12:00:00.000Z',
    }
    expect([answer.status, answer.body]).toEqual([201, record])
    for (const given of [answer.body.id, 'welcome']) {
      const found = await ask('GET', `/v1/templates/${given}`)
      expect([found.status, found.body]).toEqual([200, answer.body])
    }
    const gone = await ask('DELETE', '/v1/templates/welcome')
    expect([gone.status, gone.body]).toEqual([200, { id: answer.body.id, deleted: true }])
    for (const given of [answer.body.id, 'welcome']) {
      expect((await ask('GET', `/v1/templates/${given}`)).status).toBe(404)
    }
  })

  test('requires a name and html or text, and nothing else', async () => {
    const { ask } = await start()
    const { status, body } = await ask('POST', '/v1/templates', { body: { name: 'Bare', text: 'Hi' } })
    expect(status).toBe(201)
    expect(body).toMatchObject({ alias: null, subject: null, html: null, text: 'Hi', variables: [] })
  })

  test('is created once for one idempotency key', async () => {
    const { ask } = await start()
    const headers = { 'idempotency-key': 'k' }
    const responses = [1, 2].map(() => ask('POST', '/v1/templates', { body: WELCOME, headers }))
    const [first, second] = await Promise.all(responses)
    expect([first!.status, second!.status, second!.text]).toEqual([201, 201, first!.text])
    const other = await ask('POST', '/v1/templates', { body: { ...WELCOME, name: 'Other' }, headers })
    expect([other.status, other.body.error.details.reason]).toEqual([409, 'idempotency_key_reused'])
  })

  test('of another organization gets 403 by id, and is unknown by alias', async () => {
    const { ask, other } = await start()
    const theirs = await ask('POST', '/v1/templates', { body: WELCOME, key: other.keys.manage })
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { name: 'Mine' }],
      ['DELETE', '', undefined],
      ['POST', '/render', {}],
      ['GET', '/versions', undefined],
    ] as const) {
      expect((await ask(method, `/v1/templates/${theirs.body.id}${path}`, { body })).status).toBe(403)
      expect((await ask(method, `/v1/templates/welcome${path}`, { body })).status).toBe(404)
    }
    expect((await ask('GET', '/v1/templates/welcome', { key: other.keys.manage })).body.name).toBe('Welcome')
  })

  test('requires the permission manage', async () => {
    const { ask, own } = await start()
    for (const key of [own.keys.send, own.keys.read]) {
      expect((await ask('POST', '/v1/templates', { body: WELCOME, key })).status).toBe(403)
    }
  })

  test('has its own alias: one that is used gets 409', async () => {
    const { ask, other } = await start()
    await ask('POST', '/v1/templates', { body: WELCOME })
    const again = await ask('POST', '/v1/templates', { body: { ...WELCOME, name: 'Two' } })
    expect([again.status, again.body.error.code, again.body.error.field]).toEqual([409, 'conflict', 'alias'])
    const second = await ask('POST', '/v1/templates', { body: { ...WELCOME, alias: null } })
    const taken = await ask('PATCH', `/v1/templates/${second.body.id}`, { body: { alias: 'welcome' } })
    expect([taken.status, taken.body.error.field]).toEqual([409, 'alias'])
    expect((await ask('POST', '/v1/templates', { body: WELCOME, key: other.keys.manage })).status).toBe(201)
  })
})

describe('a bad template', () => {
  const bad: [Record<string, unknown>, string][] = [
    [{ name: undefined }, 'name'],
    [{ name: ' ' }, 'name'],
    [{ alias: 'Welcome' }, 'alias'],
    [{ alias: '' }, 'alias'],
    [{ alias: 'a'.repeat(101) }, 'alias'],
    [{ html: undefined, text: undefined }, 'html'],
    [{ html: null, text: null }, 'html'],
    [{ html: '' }, 'html'],
    [{ text: 'a\0b' }, 'text'],
    [{ subject: '' }, 'subject'],
    [{ body: 'x' }, 'body'],
    [{ html: 'x'.repeat(262_145) }, 'html'],
    [{ sample: null }, 'sample'],
    [{ sample: ['x'] }, 'sample'],
    [{ sample: { x: 'x'.repeat(16_384) } }, 'sample'],
    [{ sample: JSON.parse(`${'{"x":'.repeat(21)}1${'}'.repeat(21)}`) }, 'sample'],
  ]
  test.each(bad)('with %j gets 400', async (change, field) => {
    const { ask } = await start()
    const answer = await ask('POST', '/v1/templates', { body: { ...WELCOME, ...change } })
    expect([answer.status, answer.body.error.code, answer.body.error.field]).toEqual([400, 'validation_error', field])
  })

  test('is reported with line and column, all its texts at once', async () => {
    const { ask } = await start()
    const body = { ...WELCOME, html: '<p>\n  {% if x %}\n</p>', text: '{{ name ' }
    const { status, body: answer } = await ask('POST', '/v1/templates', { body })
    expect(status).toBe(400)
    expect(answer.error).toMatchObject({
      code: 'validation_error',
      field: 'html',
      details: { line: 2, column: 3 },
      errors: [
        { field: 'html', message: expect.stringContaining('line 2, column 3') },
        { field: 'text', message: expect.stringContaining('line 1, column 1') },
      ],
    })
  })

  // threat: files-by-path-or-url
  test('cannot load files', async () => {
    const { ask } = await start()
    const answer = await ask('POST', '/v1/templates', { body: { ...WELCOME, html: '{% include "package.json" %}' } })
    expect([answer.status, answer.body.error.field]).toEqual([400, 'html'])
    expect(answer.body.error.message).toContain('is not available')
  })
})

describe('a change', () => {
  test('of a text is a new version; the old one can still be read and rendered', async () => {
    const { ask, clock } = await start()
    const { body: first } = await ask('POST', '/v1/templates', { body: WELCOME })
    await clock.advance(1_000)
    const changed = await ask('PATCH', '/v1/templates/welcome', { body: { html: '<b>{{ total }}</b>', text: null } })
    expect([changed.status, changed.body]).toEqual([
      200,
      {
        ...first,
        html: '<b>{{ total }}</b>',
        text: null,
        variables: ['user.name', 'total'],
        version: 2,
        updated_at: '2026-11-21T12:00:01.000Z',
      },
    ])
    const old = await ask('GET', '/v1/templates/welcome?version=1')
    const { html, text, variables } = first
    expect(old.body).toEqual({ ...changed.body, html, text, variables, version: 1 })
    const render = (body: object) => ask('POST', '/v1/templates/welcome/render', { body })
    expect((await render({ variables: { user: { name: 'A' }, total: 1 } })).body.html).toBe('<b>1</b>')
    const rendered = await render({ variables: { user: { name: 'A' }, link: 'x' }, version: 1 })
    expect(rendered.body.html).toBe('<p>A, welcome</p>')
  })

  test('of name and alias, or of nothing, is no new version', async () => {
    const { ask } = await start()
    const { body: first } = await ask('POST', '/v1/templates', { body: WELCOME })
    const path = `/v1/templates/${first.id}`
    const renamed = await ask('PATCH', path, { body: { name: 'New', alias: null, html: WELCOME.html } })
    expect(renamed.body).toEqual({ ...first, name: 'New', alias: null })
    expect((await ask('PATCH', path, { body: {} })).body).toEqual(renamed.body)
  })

  test('of the sample replaces it, is no new version, and no list shows it', async () => {
    const { ask } = await start()
    const sample = { user: { name: 'Ann' }, link: 'x'.repeat(16_000) }
    const { body: first } = await ask('POST', '/v1/templates', { body: { ...WELCOME, sample } })
    expect(first.sample).toEqual(sample)
    const path = `/v1/templates/${first.id}`
    const changed = await ask('PATCH', path, { body: { sample: { user: null } } })
    expect(changed.body).toEqual({ ...first, sample: { user: null } })
    expect((await ask('PATCH', path, { body: { subject: 'Two' } })).body.sample).toEqual({ user: null })
    expect((await ask('GET', `${path}?version=1`)).body.sample).toEqual({ user: null })
    expect((await ask('GET', '/v1/templates')).body.data[0]).not.toHaveProperty('sample')
    const rendered = await ask('POST', `${path}/render`, { body: {} })
    expect([rendered.status, rendered.body.error.code]).toEqual([422, 'template_error'])
  })

  test('must result in a valid template', async () => {
    const { ask } = await start()
    await ask('POST', '/v1/templates', { body: { ...WELCOME, text: null } })
    const patch = (body: object) => ask('PATCH', '/v1/templates/welcome', { body })
    for (const [body, field] of [
      [{ html: null }, 'html'],
      [{ html: '{{ x' }, 'html'],
      [{ name: null }, 'name'],
      [{ version: 3 }, 'version'],
    ] as const) {
      const answer = await patch(body)
      expect([answer.status, answer.body.error.field]).toEqual([400, field])
    }
    expect((await ask('GET', '/v1/templates/welcome')).body.version).toBe(1)
  })

  test('by many clients at once loses none', async () => {
    const { ask } = await start()
    await ask('POST', '/v1/templates', { body: WELCOME })
    const bodies = [{ subject: 'S' }, { html: '<i>H</i>' }, { text: 'T' }]
    await Promise.all(bodies.map((body) => ask('PATCH', '/v1/templates/welcome', { body })))
    const { body } = await ask('GET', '/v1/templates/welcome')
    expect(body).toMatchObject({ subject: 'S', html: '<i>H</i>', text: 'T', variables: [], version: 4 })
  })

  // threat: template-comment-lines
  test('by many clients at once parses the texts of each once', async () => {
    const { ask, parsing } = await start()
    await ask('POST', '/v1/templates', { body: WELCOME })
    const before = parsing.parsed
    const subjects = Array.from({ length: 20 }, (_, at) => `S${at}`)
    await Promise.all(subjects.map((subject) => ask('PATCH', '/v1/templates/welcome', { body: { subject } })))
    expect(parsing.parsed - before).toBe(20)
    expect((await ask('GET', '/v1/templates/welcome')).body.version).toBe(21)
  })

  test('of one text by many clients at once keeps each as a version, and the last one is current', async () => {
    const { ask } = await start()
    await ask('POST', '/v1/templates', { body: WELCOME })
    const subjects = ['A', 'B', 'C']
    await Promise.all(subjects.map((subject) => ask('PATCH', '/v1/templates/welcome', { body: { subject } })))
    const versions = (await ask('GET', '/v1/templates/welcome/versions')).body.data
    const [last, ...before] = versions.map(({ subject }: { subject: string }) => subject)
    expect((await ask('GET', '/v1/templates/welcome')).body).toMatchObject({ subject: last, version: 4 })
    expect([last, ...before.slice(0, 2)].toSorted()).toEqual(subjects)
    expect(before[2]).toBe(WELCOME.subject)
  })
})

test('lists are newest first, in pages, and leave out the texts', async () => {
  const { ask, clock, other } = await start()
  await ask('POST', '/v1/templates', { body: WELCOME, key: other.keys.manage })
  for (const name of ['One', 'Two', 'Three']) {
    await ask('POST', '/v1/templates', { body: { name, text: `{{ ${name} }}`, subject: name } })
    await clock.advance(1)
  }
  const first = await ask('GET', '/v1/templates?limit=2')
  expect(first.body.data.map(({ name }: { name: string }) => name)).toEqual(['Three', 'Two'])
  expect(first.body.has_more).toBe(true)
  expect(Object.keys(first.body.data[0])).toEqual([
    'id',
    'alias',
    'name',
    'mode',
    'kind',
    'subject',
    'variables',
    'version',
    'created_at',
    'updated_at',
  ])
  const second = await ask('GET', `/v1/templates?limit=2&cursor=${first.body.next_cursor}`)
  expect(second.body).toMatchObject({ data: [{ name: 'One' }], has_more: false, next_cursor: null })
  expect((await ask('GET', '/v1/templates?cursor=x')).status).toBe(400)
})

test('versions are newest first, in pages', async () => {
  const { ask } = await start()
  const { body: template } = await ask('POST', '/v1/templates', { body: WELCOME })
  for (const subject of ['Two', 'Three']) await ask('PATCH', '/v1/templates/welcome', { body: { subject } })
  const first = await ask('GET', '/v1/templates/welcome/versions?limit=2')
  expect(first.body.data).toEqual([
    { version: 3, subject: 'Three', variables: template.variables, created_at: template.created_at },
    { version: 2, subject: 'Two', variables: template.variables, created_at: template.created_at },
  ])
  const path = `/v1/templates/${template.id}/versions?limit=2&cursor=`
  const second = await ask('GET', path + first.body.next_cursor)
  expect(second.body.data.map(({ version }: { version: number }) => version)).toEqual([1])
  expect(second.body.next_cursor).toBeNull()
  const foreign = Buffer.from(`\x01${template.id}`, 'latin1').toString('base64url')
  expect((await ask('GET', path + foreign)).body.error.field).toBe('cursor')
  expect((await ask('GET', '/v1/templates/welcome?version=4')).status).toBe(404)
  expect((await ask('GET', '/v1/templates/welcome?version=0')).body.error.field).toBe('version')
})

describe('a preview', () => {
  test('shows subject, html and text as they would be sent', async () => {
    const { ask } = await start()
    await ask('POST', '/v1/templates', { body: WELCOME })
    const variables = { user: { name: '<Ann> &\r\nBob' }, link: 'https://x.example/?a=1&b=2' }
    const { status, body } = await ask('POST', '/v1/templates/welcome/render', { body: { variables } })
    expect([status, body]).toEqual([
      200,
      {
        subject: 'Hi <Ann> & Bob',
        html: '<p>&lt;Ann&gt; &amp;\r\nBob, welcome</p>',
        text: '<Ann> &\r\nBob: https://x.example/?a=1&b=2',
      },
    ])
  })

  test('of a template without subject, html or variables requires nothing', async () => {
    const { ask } = await start()
    await ask('POST', '/v1/templates', { body: { name: 'Bare', alias: 'bare', text: 'Hi' } })
    const { body } = await ask('POST', '/v1/templates/bare/render')
    expect(body).toEqual({ subject: null, html: null, text: 'Hi' })
  })

  const failing: [texts: object, variables: object, details: object][] = [
    [{ text: '{{ user.name }}' }, { user: {} }, { variable: 'user.name', field: 'text', line: 1, column: 4 }],
    [{ text: 'x', subject: '\n{{ a }}' }, {}, { variable: 'a', field: 'subject', line: 2, column: 4 }],
    [{ html: '{{ a | url_decode }}' }, { a: '%' }, { field: 'html', line: 1, column: 1 }],
    [{ html: '{{ a }}' }, { a: ' ' }, { field: 'html' }],
    [{ text: '{{ a }}' }, { a: '' }, { field: 'text' }],
    [{ text: 'x', subject: '{{ a }}' }, { a: '\n' }, { field: 'subject' }],
    [{ text: 'x', subject: '{{ a }}' }, { a: 'x'.repeat(999) }, { field: 'subject' }],
    [{ html: '{{ a }}' }, { a: 'x\0y' }, { field: 'html' }],
    [{ html: '{% for i in (1..90000) %}{% for j in (1..90000) %}x{% endfor %}{% endfor %}' }, {}, { field: 'html' }],
  ]
  test.each(failing)('of %j with %j gets 422', async (texts, variables, details) => {
    const { ask } = await start()
    await ask('POST', '/v1/templates', { body: { name: 'Bad', alias: 'bad', ...texts } })
    const { status, body } = await ask('POST', '/v1/templates/bad/render', { body: { variables } })
    expect([status, body.error.code, body.error.field]).toEqual([422, 'template_error', 'variables'])
    const docs = '/manual/errors#template_error'
    expect(body.error.details).toEqual({ ...details, docs, request_id: expect.any(String), ...at(body.error.details) })
  })

  test('of an unknown version gets 400, and so do variables that are not an object, too large or too deep', async () => {
    const { ask } = await start()
    await ask('POST', '/v1/templates', { body: WELCOME })
    let deep: object = {}
    for (let level = 0; level < 20; level++) deep = { deep }
    for (const [body, field] of [
      [{ version: 2 }, 'version'],
      [{ version: '1' }, 'version'],
      [{ variables: [] }, 'variables'],
      [{ variables: 'x' }, 'variables'],
      [{ variables: { a: 'x'.repeat(65_536) } }, 'variables'],
      [{ variables: deep }, 'variables'],
      [{ html: 'x' }, 'html'],
    ] as const) {
      const answer = await ask('POST', '/v1/templates/welcome/render', { body })
      expect([answer.status, answer.body.error.field]).toEqual([400, field])
    }
  })
})

/** The expected position of a fault; empty if a case does not check it. */
function at({ line, column }: { line?: number; column?: number }) {
  return line === undefined ? {} : { line, column }
}

describe('a preview of unsaved texts', () => {
  const preview = async (body: object) => {
    const { ask } = made ?? (await start())
    return ask('POST', '/v1/templates/preview', { body })
  }

  test('has the given values, and the names of missing variables in their place', async () => {
    const { status, body } = await preview({
      subject: 'Hi {{ user.name }}',
      html: '<p>{{ user.name }} {{ user.plan }} {{ note | default: "welcome" }} {{ link }}</p>',
      variables: { user: { plan: '<b>' } },
    })
    expect([status, body]).toEqual([
      200,
      {
        subject: 'Hi [user.name]',
        html: '<p>[user.name] &lt;b&gt; welcome [link]</p>',
        text: null,
        variables: ['user.name', 'user.plan', 'note', 'link'],
        missing: ['user.name', 'link'],
      },
    ])
  })

  test('reports where a text is invalid, and which variable no sample can replace', async () => {
    const broken = await preview({ html: 'fine\n{{ name', text: 'Hi' })
    expect([broken.status, broken.body.error.field, broken.body.error.details.line]).toEqual([400, 'html', 2])
    const empty = await preview({ subject: 'Hi' })
    expect([empty.status, empty.body.error.field]).toEqual([400, 'html'])
    const loop = await preview({ text: '{% for item in items %}{{ item.name }}{% endfor %}' })
    expect([loop.status, loop.body.error.details]).toMatchObject([422, { variable: 'item.name', variables: ['items'] }])
    const first = await preview({ text: '{{ items[0].name }} {{ user["first name"] }}' })
    expect([first.status, first.body.text]).toEqual([200, "[items[0].name] [user['first name']]"])
    const given = await preview({ text: '{{ user.name }}', variables: { user: 'Ann' } })
    expect([given.status, given.body.error.details.variable]).toEqual([422, 'user.name'])
  })

  test('ends with any names, and creates nothing', async () => {
    const odd = await preview({ text: '{{ __proto__.x }}{{ constructor.name }}{{ a.b.c }}{{ a.b }}' })
    expect([200, 422]).toContain(odd.status)
    expect(({} as { x?: unknown }).x).toBeUndefined()
    const many = Array.from({ length: 3_000 }, (_, at) => `{{ v${at} }}`).join('')
    const { status, body } = await preview({ text: many })
    expect([status, body.error.details.variables.length]).toEqual([422, 3_000])
    expect((await made!.ask('GET', '/v1/templates')).body.data).toEqual([])
  })
})

test('the list can be searched by a part of name, alias and subject, in any letter case', async () => {
  const api = await start()
  for (const name of ['Order', 'Parcel'])
    await api.ask('POST', '/v1/templates', { body: { ...WELCOME, name, alias: `${name.toLowerCase()}-mail` } })
  const found = async (q: string) => {
    const { body } = await api.ask('GET', `/v1/templates?limit=1&q=${encodeURIComponent(q)}`)
    return [body.data.map(({ name }: { name: string }) => name), body.has_more]
  }
  expect(await found('PARCEL')).toEqual([['Parcel'], false])
  expect(await found('r-mail')).toEqual([['Order'], false])
  expect(await found('hi {{ user')).toEqual([[expect.any(String)], true])
  expect(await found('friend')).toEqual([[], false])
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { simpleParser } from 'mailparser'
import { openComponent } from '../../src/client/templates/push/component.ts'
import type { Converted } from '../../src/client/templates/push/convert.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, startTestServer, type TestServer } from '../support/server.ts'
import { refusal, startHostile } from './hostile.ts'
import { ROOT } from './installed.ts'
import { buildProgram, type TemplateProgram } from './template-program.ts'

/** `postrider-templates push` with React, React Email and esbuild, in a project like that of a user. */

const project = realpathSync(mkdtempSync(join(tmpdir(), 'postrider-react-')))
const emails = join(project, 'emails')
cpSync(join(ROOT, 'scripts/examples/react-email'), project, { recursive: true })
symlinkSync(join(ROOT, 'node_modules'), join(project, 'node_modules'))
let program: TemplateProgram
beforeAll(async () => {
  program = await buildProgram()
})
afterAll(() => {
  program.remove()
  rmSync(project, { recursive: true, force: true })
})

function write(name: string, source: string): string {
  const file = join(emails, name)
  writeFileSync(file, source)
  return file
}

/** The components of the tests below, which one run of the program converts. */
const cases = join(emails, 'cases')
mkdirSync(cases)
let results: { data: (Converted & { alias: string })[]; failed: { alias: string; problem: string }[] }
beforeAll(async () => {
  const { stdout } = await program.run({}, 'push', cases, '--dry-run', '--json')
  results = JSON.parse(stdout)
})

let written = 0
/** Writes a component; what became of it is known once the tests run. */
function component(source: string) {
  const alias = `case-${++written}`
  writeFileSync(join(cases, `${alias}.tsx`), source)
  return {
    made: () => {
      const found = results.data.find((each) => each.alias === alias)
      if (found === undefined) throw new Error(results.failed.find((each) => each.alias === alias)?.problem)
      return { ...found, html: found.html.replace(/^<!DOCTYPE[^>]*>/, '') }
    },
    problem: () => results.failed.find((each) => each.alias === alias)?.problem,
  }
}

function mail(body: string, sample: object, more = '') {
  return component(
    `export default function Mail(props: any) { ${body} }\nMail.PreviewProps = ${JSON.stringify(sample)}\n${more}`,
  )
}

describe('a component becomes a template', () => {
  const texts = mail(
    `const { name, url } = props
       return <div><h1>{name}</h1><a title={name} href={'https://x.example/?u=' + encodeURIComponent(url)}>{url}</a>{'{{'}{name}{'}}'}</div>`,
    { name: 'Ann', url: 'https://shop.example/?a=1&b=2' },
    `export const subject = ({ name }: any) => 'Hi ' + name + ' {% if %}'`,
  )
  test('strings, in text and attributes, encoded, in capitals, and beside braces', () => {
    const { html, text, subject } = texts.made()
    const encoded = '{{ url | url_encode | replace: "+", "%20" }}'
    const braces = '{{ "{" }}{{ "{" }}{{ name }}}}'
    expect(html).toBe(
      `<div><h1>{{ name }}</h1><a title="{{ name }}" href="https://x.example/?u=${encoded}">{{ url }}</a>${braces}</div>`,
    )
    expect(text).toBe(`{{ name | upcase }}\n\n{{ url }} https://x.example/?u=${encoded}${braces}`)
    expect(subject).toBe('Hi {{ name }} {{ "{" }}% if %}')
  })

  const conditions = mail(
    `const { paid, late, note, name = 'you', footer = true } = props
       return <div>{paid ? <p>Thanks, {name}</p> : late ? <p>Late, {name}!</p> : <h1>Open</h1>}{note && <i>{note}</i>}{!footer && <hr />}</div>`,
    { paid: true, late: false, note: 'x', name: 'Ann', footer: true },
  )
  test('conditions, with others inside, and defaults of missing values', () => {
    const { html } = conditions.made()
    expect(html).toBe(
      '<div>{% if paid %}<p>Thanks, {{ name }}</p>{% else %}{% if late %}<p>Late, {{ name }}!</p>{% else %}<h1>Open</h1>{% endif %}{% endif %}' +
        '{% if note and note != "" %}<i>{{ note }}</i>{% endif %}{% unless footer != false %}<hr/>{% endunless %}</div>',
    )
  })

  const lists = mail(
    `const { orders, tags } = props
       return <div>{orders.map((o: any) => <section key={o.id}><b>{o.id}</b><ul>{o.lines.map((l: any) => <li key={l.t}>{l.t}{l.isNew && <i>new</i>}</li>)}</ul></section>)}<p>{tags.length > 0 ? tags.join(' + ') : 'none'}</p></div>`,
    { orders: [{ id: 'A', lines: [{ t: 'Tea', isNew: true }, { t: 'Cup' }] }], tags: ['a', 'b'] },
  )
  test('lists, in lists, with separators, and another text for an empty one', () => {
    const { html, sample } = lists.made()
    expect(html).toBe(
      '<div>{% for order in orders %}<section><b>{{ order.id }}</b><ul>{% for line in order.lines %}<li>{{ line.t }}{% if line.isNew %}<i>new</i>{% endif %}</li>{% endfor %}</ul></section>{% endfor %}' +
        '<p>{% if tags.size > 0 %}{% for tag in tags %}{% unless forloop.first %} + {% endunless %}{{ tag }}{% endfor %}{% else %}none{% endif %}</p></div>',
    )
    expect(sample.tags).toEqual(['a', 'b'])
  })
})

const manual = component(
  readFileSync(join(ROOT, 'src/web/manual/react-email.md'), 'utf8').split('```tsx\n')[1]!.split('```')[0]!,
)
test('the component of the manual', () => {
  const { html, subject } = manual.made()
  expect(subject).toBe('Your order {{ order.id }}')
  expect(html).toMatch(
    /{% for line in lines %}<table.*{% endfor %}{% if isGift %}<p.*{% endif %}<a href="{{ order.url }}"/,
  )
})

describe('a component that a template cannot replace is refused with its reason', () => {
  // PreviewProps alone would not show most of these.
  const refused: [name: string, body: string, sample: object, reason: RegExp][] = [
    ['a formatted number', '<p>{props.price.toFixed(2)}</p>', { price: 5 }, /^price: .*\n.*1234567\.25</],
    ['a plural', "<p>{props.n} {props.n === 1 ? 'item' : 'items'}</p>", { n: 2 }, /^n: .*they differ when it is 1\./],
    [
      'a date',
      '<p>{new Date(props.at).toISOString()}</p>',
      { at: '2026-01-01' },
      /^at: .*\n.*case-\d+\.tsx:1:\d+: RangeError/,
    ],
    ['an initial', '<p>{props.name[0]} {props.name}</p>', { name: 'Ann' }, /^name: the component does more with it/],
    [
      'a fixed text',
      "<p>{props.s === 'paid' ? 'Thanks' : props.s}</p>",
      { s: 'open' },
      /^s: .*they differ when it is "paid"/,
    ],
    ['two conditions in one', '<p>{(props.a || props.b) && <b>x</b>}</p>', { a: true, b: false }, /^[ab]: /],
    ['the length', '<p>{props.tags.length} tags</p>', { tags: ['a', 'b'] }, /^tags: its items do not render alike, or/],
    [
      'the first items',
      '<p>{props.tags.slice(0, 3).map((t: any) => <b key={t}>{t}</b>)}</p>',
      { tags: ['a'] },
      /^tags: .*they differ with 4 items/,
    ],
    [
      'an order',
      '<p>{[...props.tags].sort().map((t: any) => <b key={t}>{t}</b>)}</p>',
      { tags: ['a', 'b'] },
      /^tags: /,
    ],
    [
      'every second row',
      "<p>{props.tags.map((t: any, i: number) => <b key={t} id={i % 2 ? 'x' : 'y'}>{t}</b>)}</p>",
      { tags: ['a', 'b'] },
      /^tags: /,
    ],
    ['chance', '<p>{Math.random()}</p>', {}, /^It renders differently each time/],
    ['an empty list', '<p>{props.tags}</p>', { tags: [] }, /^PreviewProps\.tags is empty/],
  ]
  for (const [name, body, sample, reason] of refused) {
    const refusal = mail(`return ${body}`, sample)
    test(name, () => expect(refusal.problem()).toMatch(reason))
  }
})

describe('a file that does not render', () => {
  const faults: [name: string, source: string, message: RegExp][] = [
    ['syntax', '\nexport default () => <p>{</p>\n', /case-\d+\.tsx:2:\d+: /],
    ['an error', "export default () => {\n  throw new TypeError('no')\n}", /case-\d+\.tsx:2:\d+: TypeError: no$/],
    [
      'a package',
      "import 'no-such-package/x'\n",
      /no-such-package.*\. Install it in the project: npm install no-such-package$/,
    ],
    ['a file', "import './gone'\n", /case-\d+\.tsx:1:8: .*"\.\/gone"$/],
    ['no component', 'export const x = 1', /^it has no component as default export$/],
    ['a Date', 'export default function M() {}\nM.PreviewProps = { at: new Date(0) }', /^PreviewProps\.at is a Date\./],
    [
      'props without PreviewProps',
      'export default ({ name }: any) => <p>{name}</p>',
      /^The component takes props, but/,
    ],
    ['no error', 'export default () => {\n  throw null\n}', /^null$/],
    [
      'an error with errors of another kind',
      "export default () => {\n  throw Object.assign(new Error('no'), { errors: { name: 1 } })\n}",
      /case-\d+\.tsx:2:\d+: no$/,
    ],
    ['an exit', 'console.error("bye")\nprocess.exit(3)', /ended with code 3:\nbye$/],
  ]
  for (const [name, source, message] of faults) {
    const broken = component(source)
    test(name, () => expect(broken.problem()).toMatch(message))
  }
})

describe('postrider-templates push', () => {
  let remote: RemoteMx
  let server: TestServer
  beforeAll(async () => {
    remote = await startRemoteMx()
    server = await startTestServer({ remote })
  })
  afterAll(async () => {
    await server.close()
    await remote.stop()
  })
  const receipt = join(emails, 'receipt.tsx')
  /** For the answers of a server, which are the same for every component. */
  const plain = write('plain.tsx', 'export default () => <p>Hello</p>\n')

  test('pushes the example to a server; its mail is that of the component', async () => {
    const env = {
      POSTRIDER_URL: `http://${server.running().listening.http}/v1/`,
      POSTRIDER_API_KEY: server.keys.live,
    }
    const pushed = await program.run(env, 'push', receipt)
    expect(pushed).toMatchObject({ code: 0, stderr: '' })
    expect(pushed.stdout).toMatch(
      /^receipt \(.*receipt\.tsx\): created, version 1 \(tpl_\w+\)\n {2}variables: order\.id, /,
    )
    const stored = await server.read('/v1/templates/receipt')
    expect(stored).toMatchObject({ subject: 'Your order {{ order.id }}', sample: { name: 'Ann' }, name: 'Receipt' })

    const variables = {
      name: "<b>O'Neil & Söhne</b> {{ x }}",
      order: { id: '7', url: 'https://shop.example/?a=1&b="2"', total: '1 €' },
      lines: [
        { title: 'Jam', price: '1 €' },
        { title: '& more', price: '', note: 'x' },
        { title: 'Jam', price: '2' },
      ],
      isGift: false,
    }
    const sent = { from: `a@${DOMAIN}`, to: 'ann@one.remote.example', template_id: 'receipt', variables }
    const { body } = await server.ask('POST', '/v1/messages/send', sent)
    const ended = await server.ended(body.id)
    expect(ended.status).toBe('delivered')
    const mail = await simpleParser(remote.mails[0]!.raw)
    const opened = await openComponent(receipt)
    const rendered = await opened.render(variables)
    opened.close()
    expect(mail.subject).toBe('Your order 7')
    expect(shown(mail.html || '')).toBe(shown(rendered.html))
    expect(mail.text?.trim()).toBe(rendered.text.trim())

    // the same again is no new version; what cannot be pushed does not stop the others
    const bad = write(
      'bad.tsx',
      'export default function M(p: any) { return <p>{p.n * 2}</p> }\nM.PreviewProps = { n: 1 }',
    )
    await server.clock.advance(1_000)
    const again = await program.run(env, 'push', receipt, bad, '--json')
    expect(again.code).toBe(1)
    const told = JSON.parse(again.stdout)
    expect(told.data).toMatchObject([{ alias: 'receipt', version: 1, change: 'unchanged' }])
    expect(told.failed).toMatchObject([{ alias: 'bad', problem: expect.stringMatching(/^n: /) }])
  })

  test('reads a folder without its parts; a dry run needs no server, and anything else names what it needs', async () => {
    const folder = join(project, 'more')
    mkdirSync(folder)
    writeFileSync(join(folder, 'OrderShipped.tsx'), 'export default () => <p>On its way</p>\n')
    writeFileSync(join(folder, '_button.tsx'), 'export const x = 1\n')
    const dry = await program.run({}, 'push', folder, '--dry-run')
    expect(dry).toMatchObject({ code: 0, stderr: '' })
    expect(dry.stdout).toMatch(/^order-shipped \(.*\): can be pushed\n {2}variables: none\n {2}no subject in the file/)
    const without = await program.run({}, 'push', folder)
    expect([without.code, without.stderr]).toEqual([2, expect.stringMatching(/POSTRIDER_URL/)])
    const open = { POSTRIDER_URL: 'http://mail.example.com', POSTRIDER_API_KEY: server.keys.live }
    const unsafe = await program.run(open, 'push', folder)
    expect([unsafe.code, unsafe.stderr]).toEqual([2, expect.stringMatching(/expected https:/)])
  })

  test('keeps the key from the component', async () => {
    const spy = write('spy.tsx', "export default () => <p>{process.env.POSTRIDER_API_KEY ?? 'no key'}</p>\n")
    const { stdout } = await program.run({ POSTRIDER_API_KEY: server.keys.live }, 'push', spy, '--dry-run', '--json')
    expect(JSON.parse(stdout).data[0].text).toBe('no key')
  })

  test('is not confused by a component that writes to the process that started it', async () => {
    const writer = write(
      'writer.tsx',
      "process.send?.('ready')\nexport default () => {\n  process.send?.({ html: 'x' })\n  return <p>Hello</p>\n}\n",
    )
    const { stdout } = await program.run({}, 'push', writer, '--dry-run', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ data: [{ text: 'Hello' }], failed: [] })
  })

  test.each(['[]', 'null', '"x"', '{"id":"tpl_1"}', '{"id":7,"version":1}'])(
    'takes no other server for Postrider: %s',
    async (body) => {
      const other = await startHostile({ status: 200, body })
      const pushed = await program.run({ POSTRIDER_URL: other.url, POSTRIDER_API_KEY: 'svc_live_1' }, 'push', plain)
      await other.stop()
      expect(pushed).toEqual({
        code: 1,
        stdout: '',
        stderr: 'POSTRIDER_URL: not a Postrider server. Check the address.\n',
      })
    },
  )

  test('an answer moves no cursor and adds no line', async () => {
    const text = '\x1b]0;x\x07\u202e\nreceipt: created'
    const shown = '\\u001b]0;x\\u0007\\u202e\\u000areceipt: created'
    const other = await startHostile(
      { status: 200, body: JSON.stringify({ id: text, version: 1, updated_at: 'a' }) },
      { status: 200, body: JSON.stringify({ id: text, version: 1, updated_at: 'b' }) },
      refusal(403, 'forbidden', { message: text }),
    )
    const env = { POSTRIDER_URL: other.url, POSTRIDER_API_KEY: 'svc_live_1' }
    const pushed = await program.run(env, 'push', plain)
    const refused = await program.run(env, 'push', plain)
    await other.stop()
    expect(pushed.stdout).toContain(`updated, version 1 (${shown})\n`)
    expect(refused).toEqual({ code: 1, stdout: '', stderr: `the server: ${shown}\n` })
  })

  test('names what a project lacks', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'postrider-no-project-'))
    writeFileSync(join(folder, 'mail.tsx'), 'export default () => <p>x</p>\n')
    const pushed = await program.run({}, 'push', folder, '--dry-run')
    rmSync(folder, { recursive: true })
    expect(pushed.code).toBe(1)
    expect(pushed.stderr).toContain('Install it in the project: npm install react react-dom @react-email/components\n')
  })
})

/** HTML without what no reader sees: comments of React and spellings of escapes. */
function shown(html: string): string {
  return html
    .replace(/<!-- -->|<!--\/?\$-->/g, '')
    .replace(/(?:\xA0\u200C\u200B\u200D\u200E\u200F\uFEFF)+/g, '')
    .replaceAll('&#x27;', '&#39;')
    .replaceAll('&quot;', '&#34;')
    .trim()
}

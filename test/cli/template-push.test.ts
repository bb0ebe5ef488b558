import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { simpleParser } from 'mailparser'
import { ComponentFault, openComponent } from '../../src/cli/template-push/component.ts'
import { converted } from '../../src/cli/template-push/convert.ts'
import { type RemoteMx, startRemoteMx } from '../support/remote-mx.ts'
import { DOMAIN, startTestServer, type TestServer } from '../support/server.ts'
import { postrider, startWith, testFolder } from './command.ts'

/** `template push` with React and React Email, in a project like that of a user. */

const ROOT = join(import.meta.dir, '../..')
const project = realpathSync(mkdtempSync(join(tmpdir(), 'postrider-react-')))
const emails = join(project, 'emails')
cpSync(join(ROOT, 'scripts/examples/react-email'), project, { recursive: true })
symlinkSync(join(ROOT, 'node_modules'), join(project, 'node_modules'))
afterAll(() => rmSync(project, { recursive: true, force: true }))

function write(name: string, source: string): string {
  const file = join(emails, name)
  writeFileSync(file, source)
  return file
}

async function convert(body: string, sample: object, more = '') {
  const source = `export default function Mail(props: any) { ${body} }\nMail.PreviewProps = ${JSON.stringify(sample)}\n${more}`
  const component = await openComponent(write(`case-${++cases}.tsx`, source))
  try {
    const made = await converted(component, source)
    return { ...made, html: made.html.replace(/^<!DOCTYPE[^>]*>/, '') }
  } finally {
    component.close()
  }
}
let cases = 0

describe('a component becomes a template', () => {
  test('strings, in text and attributes, encoded, in capitals, and beside braces', async () => {
    const { html, text, subject } = await convert(
      `const { name, url } = props
         return <div><h1>{name}</h1><a title={name} href={'https://x.example/?u=' + encodeURIComponent(url)}>{url}</a>{'{{'}{name}{'}}'}</div>`,
      { name: 'Ann', url: 'https://shop.example/?a=1&b=2' },
      `export const subject = ({ name }: any) => 'Hi ' + name + ' {% if %}'`,
    )
    const encoded = '{{ url | url_encode | replace: "+", "%20" }}'
    const braces = '{{ "{" }}{{ "{" }}{{ name }}}}'
    expect(html).toBe(
      `<div><h1>{{ name }}</h1><a title="{{ name }}" href="https://x.example/?u=${encoded}">{{ url }}</a>${braces}</div>`,
    )
    expect(text).toBe(`{{ name | upcase }}\n\n{{ url }} https://x.example/?u=${encoded}${braces}`)
    expect(subject).toBe('Hi {{ name }} {{ "{" }}% if %}')
  })

  test('conditions, with others inside, and defaults of missing values', async () => {
    const { html } = await convert(
      `const { paid, late, note, name = 'you', footer = true } = props
         return <div>{paid ? <p>Thanks, {name}</p> : late ? <p>Late, {name}!</p> : <h1>Open</h1>}{note && <i>{note}</i>}{!footer && <hr />}</div>`,
      { paid: true, late: false, note: 'x', name: 'Ann', footer: true },
    )
    expect(html).toBe(
      '<div>{% if paid %}<p>Thanks, {{ name }}</p>{% else %}{% if late %}<p>Late, {{ name }}!</p>{% else %}<h1>Open</h1>{% endif %}{% endif %}' +
        '{% if note and note != "" %}<i>{{ note }}</i>{% endif %}{% unless footer != false %}<hr/>{% endunless %}</div>',
    )
  })

  test('lists, in lists, with separators, and another text for an empty one', async () => {
    const { html, sample } = await convert(
      `const { orders, tags } = props
         return <div>{orders.map((o: any) => <section key={o.id}><b>{o.id}</b><ul>{o.lines.map((l: any) => <li key={l.t}>{l.t}{l.isNew && <i>new</i>}</li>)}</ul></section>)}<p>{tags.length > 0 ? tags.join(' + ') : 'none'}</p></div>`,
      { orders: [{ id: 'A', lines: [{ t: 'Tea', isNew: true }, { t: 'Cup' }] }], tags: ['a', 'b'] },
    )
    expect(html).toBe(
      '<div>{% for order in orders %}<section><b>{{ order.id }}</b><ul>{% for line in order.lines %}<li>{{ line.t }}{% if line.isNew %}<i>new</i>{% endif %}</li>{% endfor %}</ul></section>{% endfor %}' +
        '<p>{% if tags.size > 0 %}{% for tag in tags %}{% unless forloop.first %} + {% endunless %}{{ tag }}{% endfor %}{% else %}none{% endif %}</p></div>',
    )
    expect(sample.tags).toEqual(['a', 'b'])
  })
})

test('the component of the manual', async () => {
  const page = readFileSync(join(ROOT, 'src/manual/react-email.md'), 'utf8')
  const source = page.split('```tsx\n')[1]!.split('```')[0]!
  const component = await openComponent(write('manual.tsx', source))
  const { html, subject } = await converted(component, source).finally(component.close)
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
    test(name, async () => expect(convert(`return ${body}`, sample)).rejects.toThrow(reason))
  }
})

describe('a file that does not render', () => {
  const faults: [name: string, source: string, message: RegExp][] = [
    ['syntax', '\nexport default () => <p>{</p>\n', /broken\.tsx:2:\d+: /],
    ['an error', "export default () => {\n  throw new TypeError('no')\n}", /broken\.tsx:2:\d+: TypeError: no$/],
    [
      'a package',
      "import 'no-such-package/x'\n",
      /no-such-package.*\. Install it in the project: npm install no-such-package$/,
    ],
    ['a file', "import './gone'\n", /gone' ?(?:imported )?from '?[^ ]*broken\.tsx'?$/],
    ['no component', 'export const x = 1', /^it has no component as default export$/],
    ['a Date', 'export default function M() {}\nM.PreviewProps = { at: new Date(0) }', /^PreviewProps\.at is a Date\./],
    ['an exit', 'console.error("bye")\nprocess.exit(3)', /ended with code 3:\nbye$/],
  ]
  for (const [name, source, message] of faults) {
    test(name, async () => {
      const fault = await openComponent(write('broken.tsx', source))
        .then(async (component) => {
          const failure = await component.render({}).catch((error: unknown) => error)
          component.close()
          return failure
        })
        .catch((error: unknown) => error)
      rmSync(join(emails, 'broken.tsx'))
      expect(fault).toBeInstanceOf(ComponentFault)
      expect((fault as Error).message).toMatch(message)
    })
  }
})

describe('postrider template push', () => {
  const place = testFolder()
  let remote: RemoteMx
  let server: TestServer
  beforeAll(async () => {
    remote = await startRemoteMx()
    server = await startTestServer({ remote })
    place.writeConfig()
  })
  afterAll(async () => {
    await server.close()
    await remote.stop()
    place.remove()
  })
  const receipt = join(emails, 'receipt.tsx')

  test('pushes the example to a server; its mail is that of the component', async () => {
    const env = {
      POSTRIDER_URL: `http://${server.running().listening.http}/v1/`,
      POSTRIDER_API_KEY: server.keys.live,
    }
    const pushed = await (await startWith(env, 'template', 'push', receipt)).ended
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
    const component = await openComponent(receipt)
    const rendered = await component.render(variables)
    component.close()
    expect(mail.subject).toBe('Your order 7')
    expect(shown(mail.html || '')).toBe(shown(rendered.html))
    expect(mail.text?.trim()).toBe(rendered.text.trim())

    // the same again is no new version; what cannot be pushed does not stop the others
    const bad = write(
      'bad.tsx',
      'export default function M(p: any) { return <p>{p.n * 2}</p> }\nM.PreviewProps = { n: 1 }',
    )
    const again = await (await startWith(env, 'template', 'push', receipt, bad, '--json')).ended
    expect(again.code).toBe(1)
    const told = JSON.parse(again.stdout)
    expect(told.data).toMatchObject([{ alias: 'receipt', version: 1 }])
    expect(told.failed).toMatchObject([{ alias: 'bad', problem: expect.stringMatching(/^n: /) }])
  })

  test('pushes a folder to the local database; a dry run needs none', async () => {
    const folder = join(project, 'more')
    mkdirSync(folder)
    writeFileSync(join(folder, 'OrderShipped.tsx'), 'export default () => <p>On its way</p>\n')
    writeFileSync(join(folder, '_button.tsx'), 'export const x = 1\n')
    const dry = await postrider('template', 'push', folder, '--dry-run', '--config', join(project, 'none.toml'))
    expect(dry).toMatchObject({ code: 0, stderr: '' })
    expect(dry.stdout).toMatch(/^order-shipped \(.*\): can be pushed\n {2}variables: none\n {2}no subject in the file/)
    await postrider('org', 'create', 'Shop', '--config', place.file)
    const pushed = await postrider('template', 'push', folder, '--subject', 'Sent', '--config', place.file)
    expect(pushed).toMatchObject({ code: 0, stderr: '' })
    const rendered = await postrider('template', 'render', 'order-shipped', '--config', place.file)
    expect(rendered.stdout).toContain('Subject: Sent\n\nText:\nOn its way\n')
  })

  test('names what a project lacks', async () => {
    const folder = join(place.folder, 'no-project')
    mkdirSync(folder)
    writeFileSync(join(folder, 'mail.tsx'), 'export default () => <p>x</p>\n')
    const pushed = await postrider('template', 'push', folder, '--dry-run')
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

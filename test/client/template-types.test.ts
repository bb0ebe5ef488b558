import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PACKAGES } from '../../scripts/client/write.ts'
import { literal } from '../../src/client/templates/types/literal.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { type Installed, installClient, ROOT } from './installed.ts'

/** `postrider-templates types` against a real server, its files read by the real compiler and by mypy. */

let server: TestServer
let project: Installed
let env: Record<string, string>
/** The types of TEMPLATES. */
let written: Awaited<ReturnType<typeof run>>
beforeAll(async () => {
  server = await startTestServer({ remote: { port: 9, open: () => 0 } })
  project = installClient()
  env = { POSTRIDER_URL: `http://${server.running().listening.http}`, POSTRIDER_API_KEY: server.keys.live }
  for (const body of TEMPLATES) {
    const answer = await server.ask('POST', '/v1/templates', body)
    if (answer.status !== 201) throw new Error(JSON.stringify(answer))
  }
  written = await run()
})
afterAll(async () => {
  project.remove()
  await server.close()
})

const TEMPLATES = [
  { name: 'Footer', kind: 'partial', alias: 'footer', html: '<p>{{ note }} {{ shop.name | default: "Shop" }}</p>' },
  { name: 'Frame', kind: 'layout', alias: 'frame', html: '{{ content }}{% render "footer", note: site %}' },
  {
    name: 'Receipt',
    alias: 'receipt',
    layout: 'frame',
    subject: 'Order {{ order.id }}',
    html:
      '{% for line in order.lines %}<p>{{ line.title }}{% if line.note %} ({{ line.note }}){% endif %}</p>{% endfor %}' +
      '{% if gift %}<p>{{ gift.text }}</p>{% endif %}{% if paid %}Paid{% endif %}<p>{{ name | default: "friend" }}</p>',
    sample: { order: { id: '1001', lines: [{ title: 'Tea' }] }, paid: true },
    locales: { de: { subject: 'Bestellung {{ order.id }}', html: '<p>{{ order.id }} {{ anrede }}</p>' } },
  },
  { name: 'Welcome', alias: 'welcome', subject: 'Hello', text: 'Hello {{ name | default: "friend" }}' },
  { name: 'Plain', alias: 'plain', subject: 'Hello', text: 'Hello' },
]

async function run(...args: string[]) {
  const program = join(project.folder, 'node_modules/postrider/templates/postrider-templates.mjs')
  const child = Bun.spawn([Bun.which('node') ?? process.execPath, program, 'types', ...args], {
    cwd: project.folder,
    env: { PATH: process.env.PATH!, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [code, stdout, stderr] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code, stdout, stderr }
}

/** Compiles a program beside a file of types → its errors, without paths. */
function compile(name: string, types: string, program: string, more: Record<string, string> = {}): string {
  const folder = join(project.folder, name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'postrider-templates.d.ts'), types)
  for (const [file, text] of Object.entries({ 'program.ts': program, ...more })) writeFileSync(join(folder, file), text)
  const options = { strict: true, exactOptionalPropertyTypes: true, noEmit: true, types: [], lib: ['es2022', 'dom'] }
  const modules = { target: 'es2022', module: 'nodenext', skipLibCheck: false }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...options, ...modules } }))
  return Bun.spawnSync([
    process.execPath,
    join(ROOT, 'node_modules/typescript/bin/tsc'),
    '-p',
    folder,
  ]).stdout.toString()
}

const SEND = (variables: string, template = 'receipt') =>
  `void client.messages.send({ from: 'a@a.example', to: 'b@b.example', template_id: '${template}', variables: ${variables} })\n`
const GOOD = "order: { id: 1001, lines: [{ title: 'Tea' }] }, site: 'x', anrede: 'y'"
const START = "import { Postrider } from 'postrider'\nconst client = new Postrider()\n"

describe('postrider-templates types', () => {
  test('writes names, nesting, lists, and what is required, of texts, layout, partials and locales', () => {
    expect([written.code, written.stderr]).toEqual([0, ''])
    expect(written.stdout).toMatchSnapshot()
  })

  test('accepts right calls in strict TypeScript with the client', () => {
    const program =
      START +
      SEND(`{ ${GOOD} }`) +
      SEND(`{ ${GOOD}, gift: { text: 'For you' }, name: 'Ann', paid: false, shop: { name: 'S' } }`) +
      "const base = { from: 'a@a.example', to: 'b@b.example' }\n" +
      "void client.messages.send({ ...base, template_id: 'plain' })\n" +
      "void client.messages.send({ ...base, template_id: 'welcome' })\n" +
      "void client.messages.send({ ...base, subject: 'Hi', text: 'Hello' })\n" +
      "void client.messages.batch({ messages: [{ ...base, template_id: 'welcome', variables: { name: 'Ann' } }] })\n" +
      "const camel = new Postrider({ camelCase: true })\nvoid camel.messages.send({ ...base, templateId: 'welcome' })\n" +
      `void camel.messages.send({ ...base, templateId: 'receipt', variables: { ${GOOD} } })\n`
    expect(compile('good', written.stdout, program)).toBe('')
  })

  const wrong: [name: string, call: string, message: RegExp][] = [
    ['a missing variable', SEND("{ order: { id: 1, lines: [] }, site: 'x' }"), /'?"?anrede"?'?/],
    ['a missing field', SEND(`{ ${GOOD.replace('id: 1001, ', '')} }`), /"?id"?/],
    ['a missing field of an item', SEND(`{ ${GOOD.replace("title: 'Tea'", "note: 'Tea'")} }`), /title/],
    ['a misspelt variable', SEND(`{ ${GOOD}, nmae: 'Ann' }`), /nmae/],
    ['a misspelt field', SEND(`{ ${GOOD}, gift: { text: 'x', txet: 'y' } }`), /txet/],
    ['a text for a list', SEND(`{ ${GOOD.replace("[{ title: 'Tea' }]", "'Tea'")} }`), /'string' is not assignable/],
    ['no variables', "void client.messages.send({ from: 'a', to: 'b', template_id: 'receipt' })\n", /variables/],
    ['a misspelt template', SEND('{}', 'reciept'), /"reciept"/],
    ['a variable of a template without', SEND("{ x: 'y' }", 'plain'), /'?x'? does not exist/],
    [
      'a missing variable in a batch',
      "void client.messages.batch({ messages: [{ from: 'a', to: 'b', template_id: 'receipt', variables: {} }] })\n",
      /anrede|order|site/,
    ],
    [
      'a missing variable in camelCase',
      "void new Postrider({ camelCase: true }).messages.send({ from: 'a', to: 'b', templateId: 'receipt', variables: {} })\n",
      /anrede|order|site/,
    ],
  ]
  test('makes the compiler refuse each wrong call, with the name that is wrong', () => {
    const errors = compile('wrong', written.stdout, START + wrong.map(([, call]) => call).join(''))
    const first = START.split('\n').length
    for (const [at, [name, , message]] of wrong.entries()) {
      const own = errors.split(/^(?=\S)/m).filter((error) => error.includes(`program.ts(${first + at},`))
      expect([name, own.join('')]).toEqual([name, expect.stringMatching(message)])
    }
  })

  test('types messages of programs without the client', () => {
    const message = (variables: string) =>
      `const message: PostriderTemplateMessage = { template_id: 'receipt', variables: ${variables} }\nexport { message }\n`
    expect(compile('alone', written.stdout, message(`{ ${GOOD} }`))).toBe('')
    expect(compile('alone-wrong', written.stdout, message('{ order: 1 }'))).toMatch(/error TS/)
  })

  test('leaves the client as it is without the file', () => {
    const call = SEND('{ anything: 1 }', 'any')
    expect(compile('without', '', START + call)).toBe('')
  })

  test('--check exits 0 for the same templates, also with other line ends, and 1 for others', async () => {
    const file = join(project.folder, 'checked.d.ts')
    writeFileSync(file, written.stdout.replaceAll('\n', '\r\n'))
    expect(await run('--check', file)).toEqual({ code: 0, stdout: '', stderr: '' })
    await server.ask('PATCH', '/v1/templates/plain', { text: 'Hello {{ surname }}' })
    const { code, stderr } = await run('--check', file)
    await server.ask('PATCH', '/v1/templates/plain', { text: 'Hello' })
    expect([code, stderr]).toEqual([1, expect.stringMatching(/checked\.d\.ts: differs .* from line \d+/)])
    expect((await run('--check', join(project.folder, 'none.d.ts'))).code).toBe(1)
    expect((await run('file.ts')).code).toBe(2)
  })
})

const mypy = Bun.which('mypy')
if (mypy === null && process.env.REAL_PEERS === 'required') throw new Error('mypy is missing')

function check(name: string, types: string, program: string): string {
  const folder = join(project.folder, name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'postrider_templates.py'), types)
  writeFileSync(join(folder, 'program.py'), program)
  const made = Bun.spawnSync(
    [mypy!, '--strict', '--follow-imports=silent', '--cache-dir', join(project.folder, 'mypy'), 'program.py'],
    {
      cwd: folder,
      env: { PATH: process.env.PATH!, MYPYPATH: join(PACKAGES, 'python') },
    },
  )
  return made.stdout.toString()
}

describe('the manual page', () => {
  const page = readFileSync(join(ROOT, 'src/web/manual/typed-templates.md'), 'utf8')
  const block = (name: string) =>
    page
      .split(`<!-- runs: ${name} -->\n`)[1]!
      .split('```', 2)[1]!
      .replace(/^\w+\n/, '')

  test('shows the file, a call that compiles, and one that does not', async () => {
    const body = /-d '(\{.*\})'\n/s.exec(block('201'))![1]!
    expect((await server.ask('POST', '/v1/templates', JSON.parse(body))).status).toBe(201)
    const [typescript, python] = [await run(), await run('--python')]
    await server.ask('DELETE', '/v1/templates/order-shipped')
    expect(typescript.stdout).toContain(page.split('```\n  "order-shipped"')[1]!.split('```')[0]!.trimStart())
    const module = '{ "type": "module" }'
    const files = { 'package.json': module, 'shipped.ts': block('shipped.ts'), 'wrong.ts': block('wrong.ts') }
    const errors = compile('manual', typescript.stdout, '', files)
    expect(errors).toMatch(/wrong\.ts\(7,\d+\): error/)
    expect(errors).not.toContain('shipped.ts')
    if (mypy !== null) expect(check('manual-python', python.stdout, block('shipped.py'))).toContain('Success')
  })
})

describe('postrider-templates types --python', () => {
  const good = '{"order": {"id": 1001, "lines": [{"title": "Tea"}]}, "site": "x", "anrede": "y"}'
  const calls: [call: string, error: RegExp | null][] = [
    [`variables("receipt", ${good})`, null],
    ['variables("welcome", {})', null],
    [`variables("receipt", ${good.replace(', "site": "x"', '')})`, /error/],
    [`variables("receipt", ${good.replace('"title"', '"tilte"')})`, /error/],
    [`variables("reciept", ${good})`, /error/],
  ]

  test.skipIf(mypy === null)('mypy accepts right calls of the client and refuses wrong ones', async () => {
    const { stdout, code } = await run('--python')
    expect(code).toBe(0)
    expect(stdout).toMatchSnapshot()
    const head = 'import postrider\nfrom postrider_templates import variables\nclient = postrider.Postrider()\n'
    const lines = calls.map(
      ([call]) =>
        `client.messages.send({"from": "a@a.example", "to": "b@b.example", "template_id": "x", "variables": ${call}})`,
    )
    const errors = check('python', stdout, `${head}${lines.join('\n')}\n`)
    for (const [at, [call, error]] of calls.entries()) {
      const own = errors.split('\n').filter((line) => line.includes(`program.py:${at + 4}: `))
      expect([call, own.join('\n')]).toEqual([call, error === null ? '' : expect.stringMatching(error)])
    }
  })

  test('its functions return the values, and --check knows Python by the name of the file', async () => {
    const { stdout } = await run('--python')
    const file = join(project.folder, 'run.py')
    writeFileSync(file, `${stdout}\nprint(variables("plain", {}), variables("welcome", {"name": "Ann"}))\n`)
    const made = Bun.spawnSync(['python3', file])
    expect([made.stderr.toString(), made.stdout.toString()]).toEqual(['', "{} {'name': 'Ann'}\n"])
    writeFileSync(file, stdout)
    expect((await run('--check', file)).code).toBe(0)
  })
})

describe('names from outside', () => {
  const HOSTILE = [
    '"; process.exit(7); "',
    '*/ evil() /*',
    '`$' + '{evil()}`',
    '\\',
    '\\"',
    'a\nb',
    'a\u2028b\u2029',
    '\u202etxt',
    '\u{e0001}tag',
    '\ud800',
    '"""\nimport os\n"""',
    'None',
    '__proto__',
    '',
  ]
  test('are the same text as a literal of either language, on one line', () => {
    const [typescript, python] = (['typescript', 'python'] as const).map((language) =>
      HOSTILE.map((text) => literal(text, language)),
    )
    for (const each of [...typescript!, ...python!]) expect(each).not.toMatch(/[\n\r\u2028\u2029\u202e]/)
    expect(typescript!.map((each) => new Function(`return ${each}`)())).toEqual(HOSTILE)
    const program = `import json\nprint(json.dumps([${python}]))`
    expect(JSON.parse(Bun.spawnSync(['python3', '-c', program]).stdout.toString())).toEqual(HOSTILE)
  })

  test('of a hostile server become no code, in TypeScript and Python', async () => {
    const names = HOSTILE.filter((name) => name !== '')
    const templates = names.map((alias, at) => ({
      id: `tpl_${at}`,
      alias,
      name: 'x',
      mode: 'live',
      kind: 'message',
      subject: null,
      html: '<p>x</p>',
      text: null,
      mjml: null,
      layout: null,
      locales: {},
      variables: [],
      sample: Object.fromEntries(names.map((name) => [name, { [name]: [{ [name]: 1 }] }])),
      version: 1,
    }))
    const hostile = Bun.serve({
      port: 0,
      fetch: (request) => {
        const { pathname } = new URL(request.url)
        if (pathname === '/v1/me') return Response.json({ mode: 'live' })
        if (pathname === '/v1/templates') return Response.json({ data: templates, has_more: false, next_cursor: null })
        return Response.json(templates.find(({ id }) => pathname.endsWith(`/${id}`)))
      },
    })
    const before = env
    env = { ...env, POSTRIDER_URL: hostile.url.origin }
    const [typescript, python] = [await run(), await run('--python')]
    env = before
    await hostile.stop(true)
    expect([typescript.code, python.code]).toEqual([0, 0])
    const use = `const all: (keyof PostriderTemplates)[] = ${JSON.stringify(names)}\nexport { all }\n`
    expect(compile('hostile', typescript.stdout, use)).toBe('')
    writeFileSync(join(project.folder, 'hostile.py'), python.stdout)
    const shown = `import hostile, json
print(json.dumps([list(value.__annotations__) for name, value in vars(hostile).items() if name.endswith("VariablesOptional")]))`
    const made = Bun.spawnSync(['python3', '-c', shown], { cwd: project.folder })
    expect(made.stderr.toString()).toBe('')
  })

  test('of a server that is none are refused', async () => {
    const before = env
    for (const answer of [{}, { mode: 'live' }, []]) {
      const other = Bun.serve({ port: 0, fetch: () => Response.json(answer) })
      env = { ...env, POSTRIDER_URL: other.url.origin }
      const { code, stdout } = await run()
      expect([code, stdout]).toEqual([1, ''])
      await other.stop(true)
    }
    env = before
  })
})

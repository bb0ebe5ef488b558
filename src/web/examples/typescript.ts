import type { ClientCall, ExampleRequest, Setting } from './example.ts'
import { literal, type Notation, singleQuoted } from './literal.ts'
import { sessionCookie } from './session.ts'

/** Request → TypeScript with Postrider's client, or with `fetch` for operations that the client does not have. A
 *  failed call throws. */
export function typescriptExample(request: ExampleRequest, setting: Setting): string {
  return request.call === null ? withFetch(request, setting) : withClient(request, request.call, setting)
}

function withClient({ answer, file }: ExampleRequest, call: ClientCall, { origin, key }: Setting): string {
  const { name, ids, input, route } = call
  const given = [
    ...ids.map((id) => (/^\d+$/.test(id) ? id : singleQuoted(id))),
    ...(input === undefined ? [] : [literal(input, NOTATION)]),
  ].join(', ')
  const called = `postrider.${name}(${given})`
  const many = answer === 'events' ? 'event' : 'item'
  return [
    ...(answer === 'bytes' ? [`import { writeFile } from 'node:fs/promises'`] : []),
    `import { Postrider } from 'postrider'`,
    '',
    'const postrider = new Postrider({',
    `  baseUrl: ${singleQuoted(origin)},`,
    `  apiKey: ${key === null ? 'process.env.POSTRIDER_API_KEY' : singleQuoted(key)},`,
    '})',
    '',
    ...(route.isList || route.isStream
      ? [`for await (const ${many} of ${called}) {`, `  console.log(${many})`, '}']
      : answer === 'bytes'
        ? [`await writeFile(${singleQuoted(file)}, await ${called})`]
        : [`const result = await ${called}`, 'console.log(result)']),
  ].join('\n')
}

function withFetch({ method, path, body }: ExampleRequest, { origin }: Setting): string {
  return [
    `const response = await fetch(${singleQuoted(origin + path)}, {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    '  headers: {',
    `    Cookie: \`${sessionCookie(origin)}=\${process.env.POSTRIDER_SESSION}\`,`,
    `    'X-Operator': '1',`,
    ...(body === undefined ? [] : [`    'Content-Type': 'application/json',`]),
    '  },',
    ...(body === undefined ? [] : [`  body: JSON.stringify(${literal(body, NOTATION, '  ')}),`]),
    '})',
    'if (!response.ok) {',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: code of the example
    '  throw new Error(`${response.status} ${await response.text()}`)',
    '}',
    'console.log(await response.json())',
  ].join('\n')
}

const NOTATION: Notation = {
  object: ['{', '}'],
  array: ['[', ']'],
  key: (name) => `${/^[A-Za-z_]\w*$/.test(name) ? name : singleQuoted(name)}: `,
  text: singleQuoted,
  words: ['true', 'false', 'null'],
  step: '  ',
}

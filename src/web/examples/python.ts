import type { ExampleRequest, Setting } from './example.ts'
import { doubleQuoted, literal, type Notation } from './literal.ts'
import { sessionCookie } from './session.ts'

/** Request → Python 3 with its standard library. An error ends the program with its status and body. */
export function pythonExample(request: ExampleRequest, { origin, key }: Setting): string {
  const { method, path, body, answer, file, access } = request
  const isJson = answer === 'json'
  const readsEnvironment = access === 'session' || key === null
  return [
    ...(isJson || body !== undefined ? ['import json'] : []),
    ...(readsEnvironment ? ['import os'] : []),
    ...(answer === 'bytes' ? ['import shutil'] : []),
    'import urllib.error',
    'import urllib.request',
    '',
    'request = urllib.request.Request(',
    `    ${doubleQuoted(origin + path)},`,
    `    method="${method}",`,
    '    headers={',
    ...(access === 'session'
      ? [
          `        "Cookie": "${sessionCookie(origin)}=" + os.environ["POSTRIDER_SESSION"],`,
          '        "X-Operator": "1",',
        ]
      : [
          `        "Authorization": ${key === null ? '"Bearer " + os.environ["POSTRIDER_API_KEY"]' : doubleQuoted(`Bearer ${key}`)},`,
        ]),
    ...(body === undefined ? [] : ['        "Content-Type": "application/json",']),
    '    },',
    ...(body === undefined ? [] : [`    data=json.dumps(${literal(body, NOTATION, '    ')}).encode(),`]),
    ')',
    'try:',
    `    with urllib.request.urlopen(request, timeout=${answer === 'events' ? 60 : 30}) as response:`,
    ...READ[answer](file),
    'except urllib.error.HTTPError as error:',
    '    raise SystemExit(f"{error.code} {error.read().decode()}")',
  ].join('\n')
}

const READ: Record<ExampleRequest['answer'], (file: string) => string[]> = {
  json: () => ['        print(json.load(response))'],
  bytes: (file) => [`        with open("${file}", "wb") as file:`, '            shutil.copyfileobj(response, file)'],
  events: () => ['        for line in response:', '            print(line.decode(), end="")'],
}

const NOTATION: Notation = {
  object: ['{', '}'],
  array: ['[', ']'],
  key: (name) => `${doubleQuoted(name)}: `,
  text: doubleQuoted,
  words: ['True', 'False', 'None'],
  step: '    ',
}

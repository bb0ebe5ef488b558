import type { ExampleRequest, Setting } from './example.ts'
import { literal, type Notation } from './literal.ts'
import { sessionCookie } from './session.ts'

/** Request → PHP 8 with its curl extension. An error throws its status and body. */
export function phpExample(request: ExampleRequest, { origin, key }: Setting): string {
  const { method, path, body, answer, file, access } = request
  return [
    '<?php',
    `$curl = curl_init(${quoted(origin + path)});`,
    'curl_setopt_array($curl, [',
    ...(method === 'GET' ? [] : [`    CURLOPT_CUSTOMREQUEST => '${method}',`]),
    '    CURLOPT_HTTPHEADER => [',
    ...(access === 'session'
      ? [`        'Cookie: ${sessionCookie(origin)}=' . getenv('POSTRIDER_SESSION'),`, `        'X-Operator: 1',`]
      : [
          key === null
            ? `        'Authorization: Bearer ' . getenv('POSTRIDER_API_KEY'),`
            : `        ${quoted(`Authorization: Bearer ${key}`)},`,
        ]),
    ...(body === undefined ? [] : [`        'Content-Type: application/json',`]),
    '    ],',
    ...(body === undefined ? [] : [`    CURLOPT_POSTFIELDS => json_encode(${literal(body, NOTATION, '    ')}),`]),
    ...(answer === 'events' ? WRITE_EVENTS : ['    CURLOPT_RETURNTRANSFER => true,', '    CURLOPT_TIMEOUT => 30,']),
    ']);',
    '$body = curl_exec($curl);',
    '$status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);',
    'if ($body === false || $status >= 300) {',
    `    throw new RuntimeException(curl_error($curl) ?: "$status $body");`,
    '}',
    ...(answer === 'json' ? ['print_r(json_decode($body, true));'] : []),
    ...(answer === 'bytes' ? [`file_put_contents('${file}', $body);`] : []),
  ].join('\n')
}

const WRITE_EVENTS = [
  '    CURLOPT_WRITEFUNCTION => function ($curl, $part) {',
  '        echo $part;',
  '        return strlen($part);',
  '    },',
]

const SINGLE = /^[^\x00-\x1f\x7f]*$/

/** In single quotes; in double quotes if it contains control characters. */
function quoted(text: string): string {
  const value = text.toWellFormed()
  if (SINGLE.test(value)) return `'${value.replaceAll(/[\\']/g, '\\$&')}'`
  const inner = value.replaceAll(/[\\"$]/g, '\\$&').replaceAll(/[\x00-\x1f\x7f]/g, (each) => {
    const code = each.charCodeAt(0)
    return { 9: '\\t', 10: '\\n', 13: '\\r' }[code] ?? `\\x${code.toString(16).padStart(2, '0')}`
  })
  return `"${inner}"`
}

const NOTATION: Notation = {
  object: ['[', ']'],
  array: ['[', ']'],
  emptyObject: '(object) []',
  key: (name) => `${quoted(name)} => `,
  text: quoted,
  words: ['true', 'false', 'null'],
  step: '    ',
}

import type { ExampleRequest, Setting } from './example.ts'
import { jsonText } from './literal.ts'
import { sessionCookie } from './session.ts'

/** Request → a curl command for a POSIX shell. It prints the body, also of an error, and fails for errors. */
export function curlExample({ method, path, body, answer, file, access }: ExampleRequest, { origin, key }: Setting) {
  const usual = body === undefined ? 'GET' : 'POST'
  const options = [
    ...(method === usual ? [] : [`-X ${method}`]),
    ...(access === 'session'
      ? [`-H "Cookie: ${sessionCookie(origin)}=$POSTRIDER_SESSION"`, `-H 'X-Operator: 1'`]
      : [key === null ? '-H "Authorization: Bearer $POSTRIDER_API_KEY"' : `-H 'Authorization: Bearer ${key}'`]),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoted(jsonText(body))}`]),
    ...(answer === 'bytes' ? [`-o ${file}`] : []),
  ]
  const flags = answer === 'events' ? '-sSN --fail-with-body' : '-sS --fail-with-body'
  return [`curl ${flags} ${quoted(origin + path)}`, ...options].join(' \\\n  ')
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

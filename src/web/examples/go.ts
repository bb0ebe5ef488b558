import type { ExampleRequest, Setting } from './example.ts'
import { doubleQuoted, jsonText } from './literal.ts'
import { sessionCookie } from './session.ts'

/** Request → a Go program with the standard library, as gofmt writes it. An error ends it with status and body. */
export function goExample(request: ExampleRequest, { origin, key }: Setting): string {
  const { method, path, body, answer, file, access } = request
  const needsEnvironment = access === 'session' || key === null
  const imports = [
    'io',
    'log',
    'net/http',
    // Standard output, the environment, or a file.
    'os',
    ...(body === undefined ? [] : ['strings']),
    ...(answer === 'events' ? [] : ['time']),
  ]
  const authorization = needsEnvironment ? '"Bearer "+os.Getenv("POSTRIDER_API_KEY")' : doubleQuoted(`Bearer ${key}`)
  return [
    'package main',
    '',
    'import (',
    ...imports.map((name) => `\t"${name}"`),
    ')',
    '',
    'func main() {',
    ...(body === undefined ? [] : [`\tbody := strings.NewReader(\`${rawJson(body)}\`)`]),
    `\trequest, err := http.NewRequest("${method}", ${doubleQuoted(origin + path)}, ${body === undefined ? 'nil' : 'body'})`,
    ...failed('\t'),
    ...(access === 'session'
      ? [
          `\trequest.Header.Set("Cookie", "${sessionCookie(origin)}="+os.Getenv("POSTRIDER_SESSION"))`,
          '\trequest.Header.Set("X-Operator", "1")',
        ]
      : [`\trequest.Header.Set("Authorization", ${authorization})`]),
    ...(body === undefined ? [] : ['\trequest.Header.Set("Content-Type", "application/json")']),
    '',
    answer === 'events' ? '\tclient := &http.Client{}' : '\tclient := &http.Client{Timeout: 30 * time.Second}',
    '\tresponse, err := client.Do(request)',
    ...failed('\t'),
    '\tdefer response.Body.Close()',
    '\tif response.StatusCode >= 300 {',
    '\t\tproblem, _ := io.ReadAll(response.Body)',
    '\t\tlog.Fatalf("%s %s", response.Status, problem)',
    '\t}',
    ...(answer === 'bytes' ? [`\tfile, err := os.Create("${file}")`, ...failed('\t'), '\tdefer file.Close()'] : []),
    `\tif _, err := io.Copy(${answer === 'bytes' ? 'file' : 'os.Stdout'}, response.Body); err != nil {`,
    '\t\tlog.Fatal(err)',
    '\t}',
    '}',
  ].join('\n')
}

const failed = (indent: string) => [`${indent}if err != nil {`, `${indent}\tlog.Fatal(err)`, `${indent}}`]

/** JSON in a raw string, which cannot contain its quotes. */
const rawJson = (body: unknown) => jsonText(body, '\t').replaceAll('`', '\\u0060')

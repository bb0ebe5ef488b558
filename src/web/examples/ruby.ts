import type { ExampleRequest, Setting } from './example.ts'
import { doubleQuoted, literal, type Notation } from './literal.ts'
import { sessionCookie } from './session.ts'

/** Request → Ruby with its standard library. An error ends the program with its status and body. */
export function rubyExample(request: ExampleRequest, { origin, key }: Setting): string {
  const { method, path, body, answer, file, access } = request
  const isJson = answer === 'json'
  const options = ['uri.hostname', 'uri.port', ...(origin.startsWith('https:') ? ['use_ssl: true'] : [])].join(', ')
  return [
    ...(isJson || body !== undefined ? ['require "json"'] : []),
    'require "net/http"',
    '',
    `uri = URI(${quoted(origin + path)})`,
    `request = Net::HTTP::${method[0]}${method.slice(1).toLowerCase()}.new(uri)`,
    ...(access === 'session'
      ? [
          `request["Cookie"] = "${sessionCookie(origin)}=#{ENV.fetch("POSTRIDER_SESSION")}"`,
          'request["X-Operator"] = "1"',
        ]
      : [
          `request["Authorization"] = ${key === null ? '"Bearer #{ENV.fetch("POSTRIDER_API_KEY")}"' : quoted(`Bearer ${key}`)}`,
        ]),
    ...(body === undefined
      ? []
      : ['request["Content-Type"] = "application/json"', `request.body = JSON.generate(${literal(body, NOTATION)})`]),
    '',
    ...(answer === 'events'
      ? [
          `Net::HTTP.start(${options}) do |http|`,
          '  http.request(request) do |response|',
          '    abort "#{response.code} #{response.body}" unless response.is_a?(Net::HTTPSuccess)',
          '    response.read_body { |part| print part }',
          '  end',
          'end',
        ]
      : [
          `response = Net::HTTP.start(${options}) { |http| http.request(request) }`,
          'abort "#{response.code} #{response.body}" unless response.is_a?(Net::HTTPSuccess)',
          isJson ? 'pp JSON.parse(response.body)' : `File.binwrite("${file}", response.body)`,
        ]),
  ].join('\n')
}

/** `#` begins an interpolation before three characters. */
const quoted = (text: string) => doubleQuoted(text).replaceAll(/#(?=[{$@])/g, '\\#')

const NOTATION: Notation = {
  object: ['{', '}'],
  array: ['[', ']'],
  key: (name) => (/^[a-z_]\w*$/.test(name) ? `${name}: ` : `${quoted(name)}: `),
  text: quoted,
  words: ['true', 'false', 'nil'],
  step: '  ',
}

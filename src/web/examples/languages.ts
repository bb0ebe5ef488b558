import { curlExample } from './curl.ts'
import type { ExampleRequest, Setting } from './example.ts'
import { goExample } from './go.ts'
import { phpExample } from './php.ts'
import { pythonExample } from './python.ts'
import { rubyExample } from './ruby.ts'
import { typescriptExample } from './typescript.ts'

/** The languages of the examples, in the order of the switch. */
export const LANGUAGES = ['curl', 'typescript', 'python', 'php', 'go', 'ruby'] as const
export type Language = (typeof LANGUAGES)[number]

export const LANGUAGE_NAMES: Record<Language, string> = {
  curl: 'curl',
  typescript: 'TypeScript',
  python: 'Python',
  php: 'PHP',
  go: 'Go',
  ruby: 'Ruby',
}

const WRITERS: Record<Language, (request: ExampleRequest, setting: Setting) => string> = {
  curl: curlExample,
  typescript: typescriptExample,
  python: pythonExample,
  php: phpExample,
  go: goExample,
  ruby: rubyExample,
}

/** Request → a complete program in the language. test/reference/examples.test.ts runs them all. */
export function exampleIn(language: Language, request: ExampleRequest, setting: Setting): string {
  return WRITERS[language](request, setting)
}

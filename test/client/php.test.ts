import { testLanguage } from './languages.ts'

testLanguage({
  name: 'PHP',
  tools: ['php', 'php-curl'],
  command: ['php', '-d', 'error_reporting=-1', '-d', 'display_errors=stderr', 'program.php'],
  env: {},
  page: 'php.md',
  example: 'shop.php',
})

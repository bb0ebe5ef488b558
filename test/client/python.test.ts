import { join } from 'node:path'
import { CLIENT, testLanguage } from './languages.ts'

testLanguage({
  name: 'Python',
  tools: ['python3'],
  command: ['/usr/bin/python3', '-B', '-W', 'error', 'program.py'],
  env: { PYTHONPATH: join(CLIENT, 'python') },
  page: 'python.md',
  example: 'shop.py',
})

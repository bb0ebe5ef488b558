import { join } from 'node:path'
import { PACKAGES, testLanguage } from './languages.ts'

testLanguage({
  name: 'Python',
  tools: ['python3'],
  command: ['/usr/bin/python3', '-B', '-W', 'error', 'program.py'],
  env: { PYTHONPATH: join(PACKAGES, 'python') },
  page: 'python.md',
  example: 'shop.py',
})

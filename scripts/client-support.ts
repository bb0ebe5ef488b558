/** The data of caniemail.com → src/sending/analysis/client-data.ts: the mail clients that do not support a feature. Run it after
 *  an upgrade of the package `caniemail`; src/sending/analysis/client-support.test.ts fails while the file is out of date. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientData } from './client-support/client-data.ts'

const FILE = join(import.meta.dir, '../src/sending/analysis/client-data.ts')
writeFileSync(FILE, clientData())
console.log('src/sending/analysis/client-data.ts')

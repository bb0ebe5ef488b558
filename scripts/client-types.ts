/** The OpenAPI document → the generated part of the clients in src/client: TypeScript, python/ and php/. Run it after a
 *  change of requests or responses, of the version, or of the manual pages that are also READMEs (python.md, php.md);
 *  test/client/types.test.ts compares the files with the document. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { allClientFiles } from './client/all-files.ts'
import { openApiDocument } from './openapi-document.ts'

const SRC = join(import.meta.dir, '../src/client')

for (const [name, text] of Object.entries(allClientFiles(await openApiDocument()))) {
  writeFileSync(join(SRC, name), text)
  console.log(`src/client/${name}`)
}

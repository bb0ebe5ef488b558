/** The OpenAPI document → the generated files of the clients: TypeScript in src/client, and the packages for Python and
 *  PHP in dist/clients. git ignores them. The build, the tests and the release run this, and scripts/bun when they are
 *  missing; run it for an editor after a change of requests or responses. Prints the files that changed. */
import { writeClients } from './client/write.ts'

for (const path of await writeClients()) console.log(path)

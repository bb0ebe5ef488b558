/** Writes config.example.toml from the schema: `bun scripts/example.ts`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderExample } from '../src/config/load.ts'

writeFileSync(join(import.meta.dir, '../config.example.toml'), renderExample())

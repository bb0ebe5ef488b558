import { backends } from './backends.ts'
import { testStoreContract } from './contract.ts'

for (const backend of backends) testStoreContract(backend)

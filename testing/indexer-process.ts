/** A worker process that only follows one chain, for the tests to kill. Its one argument is its options, as JSON. */
import { type IndexingOptions, openIndexing } from './indexing.ts'

const indexing = await openIndexing(JSON.parse(process.argv[2]!) as IndexingOptions)
indexing.start()
process.stdout.write('following\n')

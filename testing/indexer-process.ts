/** A worker process that only follows one chain, for the tests to kill. Its one argument is its options, as JSON. */
import { openTestIndexer, type TestIndexerOptions } from './test-indexer.ts'

openTestIndexer(JSON.parse(process.argv[2]!) as TestIndexerOptions).then(({ start }) => {
  start()
  process.stdout.write('following\n')
})

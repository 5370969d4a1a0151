/** A worker process that only follows one chain, for the tests to kill. Its one argument is its options, as JSON. */
import { openTestIndexer, type TestIndexerOptions } from '#testing/platform/test-indexer'

openTestIndexer(JSON.parse(process.argv[2]!) as TestIndexerOptions).then(({ start }) => {
  start()
  process.stdout.write('following\n')
})

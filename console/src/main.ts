import './styles/fonts.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/tones.css'
import { mount } from 'svelte'
import App from './App.svelte'
import { route } from './router.svelte.ts'
import { settings } from './settings.svelte.ts'

settings.applyTheme()
route.begin()
mount(App, { target: document.getElementById('console')! })

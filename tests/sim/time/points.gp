# points.gp - modelled over measured rates. gnuplot -e "points='FILE'; out='FILE.svg'" points.gp
set terminal svg size 720,720 font 'sans,11'
set output out
set logscale xy
set xlabel 'measured (GB/s, TFLOP/s)'
set ylabel 'modelled'
set key left top
set grid
plot x title 'the same' lc rgb '#888888', x * 1.25 title '25 % off' dt 2 lc rgb '#888888', \
     x / 1.25 notitle dt 2 lc rgb '#888888', points using 2:3 title 'kernels' pt 7 ps 0.5
